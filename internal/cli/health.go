package cli

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"

	"dray/internal/app"
)

// healthTimeout is the maximum time that a server may take to respond.
const healthTimeout = 5 * time.Second

func healthCommand() command {
	return command{
		name: "health", summary: "Check that a server is ready, for containers and scripts",
		examples: []string{"dray health", "dray health --listen 127.0.0.1:9000", "dray health --url https://dray.example.com"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			f.StringVar(&c.Listen, "listen", c.Listen, "`address` that the server on this machine serves on")
			url := f.String("url", "", "`URL` of the server, instead of --listen")
			return func(ctx context.Context, inv *invocation) error {
				if *url == "" {
					*url = "http://" + reachable(inv.Config.Listen)
				}
				if err := checkHealth(ctx, *url); err != nil {
					return err
				}
				return inv.print(map[string]any{"url": *url, "ready": true}, "%s is ready.\n", *url)
			}
		},
	}
}

// reachable returns the address at which a server that listens on an address can
// be reached from this machine.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// checkHealth returns an error if a server is not ready.
func checkHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return usageErrorf("--url must be an http or https URL, not %q", url)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready: %s", url, response.Status)
	}
	return nil
}
