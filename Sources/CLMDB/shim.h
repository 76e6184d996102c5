#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H

#include <errno.h>
#include <linux/stat.h>
#include <lmdb.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Which file it is, and its times in nanoseconds since 1970. */
struct file_identity {
    unsigned long long inode;
    long long born, changed, modified;
};

/* Of `name` in an open directory, or of what is open itself where `name` is empty. 0, or an errno: ENOTSUP where the file
   system does not tell when a file was made. Glibc's statx() is not imported to Swift. */
static inline int file_identify(int directory, const char *name, struct file_identity *identity) {
    struct statx found;
    const int flags = 0x100 | (*name ? 0 : 0x1000); /* AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH */
    if (syscall(SYS_statx, directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return errno;
    if (!(found.stx_mask & STATX_BTIME)) return ENOTSUP;
    identity->inode = found.stx_ino;
    identity->born = found.stx_btime.tv_sec * 1000000000LL + found.stx_btime.tv_nsec;
    identity->changed = found.stx_ctime.tv_sec * 1000000000LL + found.stx_ctime.tv_nsec;
    identity->modified = found.stx_mtime.tv_sec * 1000000000LL + found.stx_mtime.tv_nsec;
    return 0;
}

#endif
