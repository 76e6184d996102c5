#ifndef CLMDB_SHIM_H
#define CLMDB_SHIM_H

#include <errno.h>
#include <linux/stat.h>
#include <lmdb.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Identifies a file: its file system, its inode number, and its times in nanoseconds since 1970. */
struct file_identity {
    unsigned long long device, inode;
    long long born, changed, modified;
};

/* Reads the identity of `name` in an open directory; if `name` is empty, that of the descriptor itself. Returns 0; or -1, with the reason in `errno`:
   ENOTSUP if the file system does not record birth times. Swift does not import glibc's statx(). */
static inline int file_identify(int directory, const char *name, struct file_identity *identity) {
    struct statx found;
    const int flags = 0x100 | (*name ? 0 : 0x1000); /* AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH */
    if (syscall(SYS_statx, directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -1;
    if (!(found.stx_mask & STATX_BTIME)) {
        errno = ENOTSUP;
        return -1;
    }
    identity->device = (unsigned long long)found.stx_dev_major << 32 | found.stx_dev_minor;
    identity->inode = found.stx_ino;
    identity->born = found.stx_btime.tv_sec * 1000000000LL + found.stx_btime.tv_nsec;
    identity->changed = found.stx_ctime.tv_sec * 1000000000LL + found.stx_ctime.tv_nsec;
    identity->modified = found.stx_mtime.tv_sec * 1000000000LL + found.stx_mtime.tv_nsec;
    return 0;
}

/* Has the file system set disk aside for the first `bytes` bytes of a file, or refuse; glibc's posix_fallocate() would write to
   the file instead of refusing. Returns 0; or -1, with the reason in `errno`. */
static inline int file_set_aside(int file, long long bytes) {
    return (int)syscall(SYS_fallocate, file, 0, 0LL, bytes);
}

#endif
