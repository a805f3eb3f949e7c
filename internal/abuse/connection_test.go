package abuse

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// connectionsPerAddress is the default of --connections-per-address, which does not
// apply to loopback: an attacker with one address has no more.
const connectionsPerAddress = 256

// connectionAttacks misuse HTTP itself.
var connectionAttacks = []attack{
	{name: "idle connections", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, connectionsPerAddress, 0, func(ctx context.Context, _, _ int) {
			if conn, err := by.dial(ctx); err == nil {
				io.Copy(io.Discard, conn) //nolint:errcheck // until it is closed
			}
			pace(ctx, 100*time.Millisecond)
		})
	}},
	{name: "slow headers", run: func(ctx context.Context, w *world, by *tenant) {
		head := by.head(http.MethodGet, "/api/v2/tasks/all?from=0", 0)
		mob(ctx, connectionsPerAddress, 100*time.Millisecond, func(ctx context.Context, _, _ int) {
			conn, err := by.dial(ctx)
			for i := 0; err == nil && i < len(head); i++ {
				_, err = io.WriteString(conn, head[i:i+1])
				pace(ctx, time.Second)
			}
		})
	}},
	{name: "unfinished batches of 32 MiB", run: func(ctx context.Context, w *world, by *tenant) {
		const size = 32 << 20
		chunk := strings.Repeat(" ", 64<<10)
		mob(ctx, 20, 2*time.Second, func(ctx context.Context, _, _ int) {
			conn, err := by.dial(ctx)
			if err != nil {
				return
			}
			_, err = io.WriteString(conn, by.head(http.MethodPost, "/api/v2/tasks/batch-async", size)+`{"tasks":[`)
			for sent := len(chunk); err == nil && sent < size-len(chunk); sent += len(chunk) {
				_, err = io.WriteString(conn, chunk)
			}
			if err == nil {
				io.Copy(io.Discard, conn) //nolint:errcheck // until it is closed
			}
		})
	}},
	{name: "unfinished bodies without credentials", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 100, 100*time.Millisecond, func(ctx context.Context, member, _ int) {
			conn, err := by.dial(ctx)
			if err != nil {
				return
			}
			path := []string{"/driver/v1/login", by.link + "/feedback", "/api/v2/tasks/batch", "/driver/v1/uploads"}[member%4]
			_, err = io.WriteString(conn, by.anonymous.head(http.MethodPost, path, 32<<20))
			for err == nil {
				_, err = io.WriteString(conn, strings.Repeat(" ", 4<<10))
				pace(ctx, 20*time.Millisecond)
			}
		})
	}},
	{name: "slow readers of large responses", prepare: prepareLargeTasks, run: func(ctx context.Context, w *world, by *tenant) {
		search := string(encode(largeSearch))
		mob(ctx, 40, 100*time.Millisecond, func(ctx context.Context, member, _ int) {
			conn, err := by.dial(ctx)
			if err != nil {
				return
			}
			request := by.head(http.MethodPost, "/api/v2/tasks/metadata", len(search)) + search
			switch member % 4 {
			case 1:
				request = by.head(http.MethodGet, "/api/v2/tasks/all?from=1", 0)
			case 2:
				request = by.head(http.MethodGet, "/api/v2/events?since=0", 0)
			}
			if _, err := io.WriteString(conn, request); err != nil {
				return
			}
			for part := make([]byte, 64); err == nil && ctx.Err() == nil; pace(ctx, 500*time.Millisecond) {
				_, err = conn.Read(part)
			}
		})
	}},
	{name: "pipelined requests whose responses are not read", run: func(ctx context.Context, w *world, by *tenant) {
		requests := strings.Repeat(by.head(http.MethodGet, "/api/v2/tasks/all?from=1", 0), 50)
		mob(ctx, 5, 500*time.Millisecond, func(ctx context.Context, _, _ int) {
			conn, err := by.dial(ctx)
			for err == nil {
				_, err = io.WriteString(conn, requests)
			}
		})
	}},
	{name: "odd requests", run: func(ctx context.Context, w *world, by *tenant) {
		parameters := "/api/v2/tasks/all?from=1"
		for i := range 400 {
			parameters += fmt.Sprintf("&state=%d&a%d=%d", i%4, i, i)
		}
		odd := []string{
			by.head(http.MethodGet, parameters, 0),
			by.head(http.MethodGet, "/api/v2/tasks/all?from=1&"+strings.Repeat("a=%25&", 2000), 0),
			strings.Replace(by.head(http.MethodGet, "/api/v2/teams", 0), "\r\n\r\n", "\r\nX-Long: "+strings.Repeat("x", 1<<20)+"\r\n\r\n", 1),
			strings.Replace(by.head(http.MethodGet, "/api/v2/teams", 0), "\r\n\r\n", strings.Repeat("\r\nX-Forwarded-For: 1.2.3.4", 500)+"\r\n\r\n", 1),
			by.head("TRACE", "/api/v2/teams", 0),
			by.head(http.MethodGet, "/api/v2/%2e%2e/%2e%2e/etc/passwd", 0),
			by.head(http.MethodGet, "/api/v2/tasks/"+strings.Repeat("%00", 1000), 0),
			"POST /api/v2/tasks HTTP/1.1\r\nHost: dray\r\nAuthorization: " + by.authorization + "\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\n \r\n", 20_000) + "0\r\n\r\n",
			"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00", 1000),
			"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		}
		mob(ctx, 20, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			if conn, err := by.dial(ctx); err == nil {
				io.WriteString(conn, odd[(member+turn)%len(odd)]) //nolint:errcheck // it may be closed at once
				first := make([]byte, 400)
				n, _ := io.ReadAtLeast(conn, first, 12)
				conn.Close()
				if got := string(first[:n]); strings.HasPrefix(got, "HTTP/1.1 5") && !strings.HasPrefix(got, "HTTP/1.1 501") && !strings.HasPrefix(got, "HTTP/1.1 503") && !strings.HasPrefix(got, "HTTP/1.1 505") {
					by.statuses.fault("odd request %d: %s", (member+turn)%len(odd), got)
				}
			}
		})
	}},
}
