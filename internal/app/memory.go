package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// How memory is divided. The rest of a container's memory is for memory that Go does not
// count, such as the caches of SQLite, and for garbage that is collected late.
const (
	memoryLimitPercent   = 50 // of the container's memory: Go's memory limit
	requestMemoryPercent = 30 // of Go's memory limit, or of the machine's memory: for requests in flight
	minRequestMemory     = 96 << 20
	maxRequestMemory     = 1 << 30
	databaseCachePercent = 6 // of Go's memory limit, or of the machine's memory: for the pages of SQLite
	minDatabaseCache     = 8 << 20
	maxDatabaseCache     = 64 << 20
)

// limitMemory sets Go's memory limit to a part of the container's memory, unless GOMEMLIMIT
// is set.
func limitMemory(log *slog.Logger) {
	limit := containerMemory(os.DirFS("/"))
	if os.Getenv("GOMEMLIMIT") != "" || limit == 0 {
		return
	}
	limit = limit / 100 * memoryLimitPercent
	debug.SetMemoryLimit(limit)
	log.Info("memory limit set", "mebibytes", limit>>20)
}

// requestMemory returns the maximum memory of all requests together, in bytes.
func requestMemory() int64 {
	return min(max(memoryLimit()/100*requestMemoryPercent, minRequestMemory), maxRequestMemory)
}

// databaseCache returns the size in bytes of SQLite's page cache for writing. It takes almost
// three times as much memory. A command beside the server needs only a small one.
func databaseCache(serve bool) int64 {
	if !serve {
		return minDatabaseCache
	}
	return min(max(memoryLimit()/100*databaseCachePercent, minDatabaseCache), maxDatabaseCache)
}

// memoryLimit returns Go's memory limit, or the memory of the machine.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	if machine := machineMemory(os.DirFS("/")); machine > 0 {
		return machine
	}
	return math.MaxInt64
}

// containerMemory returns the smallest memory limit of the process's control group and the
// groups that contain it; 0 if there is none.
func containerMemory(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(math.MaxInt64)
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(parts) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max" // version 2
		if parts[0] != "0" || parts[1] != "" {
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// Inside a container, the path may be that on the host, and the limit is that of the
		// root.
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if limit, ok := readBytes(root, path.Join(base, dir, file)); ok {
				least = min(least, limit)
			}
			if dir == "/" {
				break
			}
		}
	}
	if machine := machineMemory(root); least == math.MaxInt64 || machine > 0 && least >= machine {
		return 0
	}
	return least
}

// readBytes reads a number of bytes from a file. ok is false for the word max.
func readBytes(root fs.FS, name string) (int64, bool) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if errors.Is(err, strconv.ErrRange) { // in version 1, such a number means no limit
		return math.MaxInt64, true
	}
	return n, err == nil && n > 0
}

// machineMemory returns the memory of the machine, or 0.
func machineMemory(root fs.FS) int64 {
	data, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
