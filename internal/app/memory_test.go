package app

import (
	"net/netip"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestContainerMemory(t *testing.T) {
	const gib = 1 << 30
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control group": {map[string]string{}, 0},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, gib / 2},
		"version 2 without a limit": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 0},
		"version 2, of a service": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/dray.service\n", "sys/fs/cgroup/system.slice/dray.service/memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max": "1073741824\n",
		}, gib},
		"version 2, the least of several": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.max": "536870912\n",
		}, gib / 2},
		"version 1": {map[string]string{
			"proc/self/cgroup":                             "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "536870912\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1\n",
		}, gib / 2},
		"version 1 without a limit": {map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "proc/meminfo": "MemTotal:  16777216 kB\n",
		}, 0},
		"more than the machine has": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "34359738368\n", "proc/meminfo": "MemFree: 1 kB\nMemTotal:  16777216 kB\n",
		}, 0},
		"nonsense": {map[string]string{"proc/self/cgroup": "0::/\nx\n", "sys/fs/cgroup/memory.max": "-1\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range test.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := containerMemory(root); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestConnectionsAreLimitedByNetwork(t *testing.T) {
	l := &limitedListener{limit: 1, open: map[netip.Prefix]int{}}
	first := networkOf(netip.MustParseAddr("2001:db8::1"))
	if !l.acquire(first) {
		t.Fatal("a first connection is denied")
	}
	for _, c := range []struct {
		address string
		want    bool
	}{
		{"2001:db8::ffff:2", false},
		{"fe80::1%eth0", true},
		{"fe80::2%eth1", false},
		{"2001:db8:0:1::1", true},
		{"192.0.2.1", true},
		{"::ffff:192.0.2.1", false},
		{"192.0.2.2", true},
	} {
		if got := l.acquire(networkOf(netip.MustParseAddr(c.address))); got != c.want {
			t.Errorf("%s: admitted is %t, want %t", c.address, got, c.want)
		}
	}
	l.release(first)
	if !l.acquire(networkOf(netip.MustParseAddr("2001:db8::3"))) {
		t.Error("a network whose connection was closed is denied")
	}
}

func TestDatabaseCache(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	const mebibyte = 1 << 20
	for limit, want := range map[int64]int64{64 * mebibyte: 8, 256 * mebibyte: 15, 4096 * mebibyte: 64} {
		debug.SetMemoryLimit(limit)
		if got := databaseCache(true) / mebibyte; got != want {
			t.Errorf("with a limit of %d MiB, the cache has %d MiB; want %d", limit/mebibyte, got, want)
		}
		if got := databaseCache(false) / mebibyte; got != 8 {
			t.Errorf("with a limit of %d MiB, the cache of a command has %d MiB", limit/mebibyte, got)
		}
	}
}
