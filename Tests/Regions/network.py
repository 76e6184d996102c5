"""A network of regions on one machine, without the kernel's netem, which not every kernel has.

Each host is a network namespace with a TUN device. A process forwards IP packets between these devices, and delays, loses or drops them by the regions of
sender and receiver. It needs root and /dev/net/tun.
"""
import ctypes
import fcntl
import heapq
import multiprocessing
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
HOME = os.open("/proc/self/ns/net", os.O_RDONLY)
ENTERING = threading.Lock()


def enter(namespace):
    """Moves this thread into a network namespace; `None` for the one in which the program started."""
    descriptor = os.open(f"/run/netns/{namespace}", os.O_RDONLY) if namespace else HOME
    try:
        if LIBC.setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    finally:
        if namespace:
            os.close(descriptor)


class Network:
    """Hosts, each with a region and an address, and the links between the regions."""

    def __init__(self, hosts, round_trips):
        """
        hosts: for each name its region and its address in 10.77.0.0/16.
        round_trips: milliseconds for each pair of regions, as in {("eu", "us"): 40}; within a region it is one.
        """
        self.hosts, self.prefix = hosts, f"mt{os.getpid()}-"
        self.commands, commands = multiprocessing.Pipe()
        devices = [self.make(name, address) for name, (_, address) in hosts.items()]
        delays = {frozenset(pair): milliseconds / 2000 for pair, milliseconds in round_trips.items()}
        self.forwarder = multiprocessing.Process(target=Forwarder(hosts, devices, delays).run, args=[commands], daemon=True)
        self.forwarder.start()

    def make(self, name, address):
        """Makes a host, and returns the descriptor of its device."""
        def ip(*words):
            subprocess.run(["ip", *words], check=True)
        namespace = self.prefix + name
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        with ENTERING:
            enter(namespace)
            try:
                device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"wan0", IFF_TUN | IFF_NO_PI))
            finally:
                enter(None)
        ip("-n", namespace, "addr", "add", f"{address}/32", "dev", "wan0")
        ip("-n", namespace, "link", "set", "wan0", "mtu", "1500", "txqueuelen", "1000", "up")
        ip("-n", namespace, "route", "add", "10.77.0.0/16", "dev", "wan0")
        return device

    def run(self, host, *command, **options):
        """Starts a program on a host."""
        return subprocess.Popen(["ip", "netns", "exec", self.prefix + host, *command], **options)

    def socket(self, host):
        """A socket of a host, whichever thread then uses it."""
        with ENTERING:
            enter(self.prefix + host)
            try:
                return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            finally:
                enter(None)

    def link(self, a, b, **settings):
        """Changes what happens to packets from region `a` to region `b`: `loss=SHARE`, or 1 for a link that is cut; or `milliseconds=` for their way."""
        self.commands.send((a, b, settings))

    def cut(self, a, b):
        self.link(a, b, loss=1)
        self.link(b, a, loss=1)

    def heal(self):
        for a in self.regions:
            for b in self.regions:
                self.link(a, b, loss=0)

    @property
    def regions(self):
        return list(dict.fromkeys(region for region, _ in self.hosts.values()))

    def end(self):
        self.forwarder.kill()
        self.forwarder.join()
        for name in self.hosts:
            subprocess.run(["ip", "netns", "del", self.prefix + name], stderr=subprocess.DEVNULL)


class Forwarder:
    def __init__(self, hosts, devices, delays):
        self.devices = devices
        self.regions = [region for region, _ in hosts.values()]
        self.numbers = {socket.inet_aton(address): number for number, (_, address) in enumerate(hosts.values())}
        self.delay = {(a, b): delays.get(frozenset([a, b]), 0.0005) for a in set(self.regions) for b in set(self.regions)}
        self.loss = dict.fromkeys(self.delay, 0.0)

    def run(self, commands):
        numbers = {device: number for number, device in enumerate(self.devices)}
        inputs = [*self.devices, commands.fileno()]
        queue, sequence = [], 0
        while True:
            wait = max(0.0, queue[0][0] - time.monotonic()) if queue else None
            ready, _, _ = select.select(inputs, [], [], wait)
            now = time.monotonic()
            while queue and queue[0][0] <= now:
                _, _, device, packet = heapq.heappop(queue)
                try:
                    os.write(device, packet)
                except OSError:
                    pass
            for device in ready:
                if device not in numbers:
                    a, b, settings = commands.recv()
                    if "loss" in settings:
                        self.loss[a, b] = settings["loss"]
                    if "milliseconds" in settings:
                        self.delay[a, b] = settings["milliseconds"] / 1000
                    continue
                source = self.regions[numbers[device]]
                for _ in range(64):
                    try:
                        packet = os.read(device, 65536)
                    except BlockingIOError:
                        break
                    target = self.numbers.get(packet[16:20])
                    if target is None or packet[0] >> 4 != 4:
                        continue
                    way = source, self.regions[target]
                    if self.loss[way] and random.random() < self.loss[way]:
                        continue
                    sequence += 1
                    heapq.heappush(queue, (time.monotonic() + self.delay[way], sequence, self.devices[target], packet))
