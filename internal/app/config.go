package app

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"dray/internal/geo"
	"dray/internal/webhook"
)

// Config is all that can be set from outside.
type Config struct {
	Listen         string
	AdminListen    string
	PublicURL      string // how others reach the server; http://Listen when empty
	Data           string
	Database       string // postgres:// URL; SQLite in Data when empty
	MasterKey      string // file of the master key; see masterKey
	RateLimit      float64
	Connections    int // of one address; 0 is no limit
	LogLevel       slog.Level
	WebhookCAs     list // files
	WebhookNets    list // CIDRs
	WebhookPorts   list
	LogFormat      string
	Geocoders      list // URLs of map services, the best first
	Routers        list
	TrustedProxies list   // CIDRs of proxies that say whom they speak for
	Uploads        string // where images go; see addUploads
	SMS            smsConfig

	// Patience is the longest wait of a write on SQLite before it is refused; 0
	// is the usual one. It has no flag: the test kit waits for slow machines.
	Patience time.Duration
	// Poll is how often a node checks for changes by other processes where no
	// notification says so; 0 is the usual interval. It has no flag: tests set it.
	Poll time.Duration

	existing  bool // refuse a data folder without a database instead of making one
	keepShort bool // forget events and positions after a day: a demonstration makes many
}

// DefaultConfig is what holds where nothing is set.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:8080", AdminListen: "127.0.0.1:8081", Data: "dray-data", Connections: 256, LogFormat: "json", SMS: defaultSMS}
}

// bindStorage adds the flags that say where the data is.
func (c *Config) bindStorage(f *flag.FlagSet) {
	f.StringVar(&c.Data, "data", c.Data, "`folder` of the embedded database")
	f.StringVar(&c.Database, "database", c.Database, "PostgreSQL `URL` (postgres://…) instead of the embedded database")
	f.StringVar(&c.MasterKey, "master-key-file", c.MasterKey, "`file` of the key that seals stored secrets (made on first use)")
}

// bindServer adds the flags of a server.
func (c *Config) bindServer(f *flag.FlagSet) {
	f.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve on")
	f.StringVar(&c.AdminListen, "admin-listen", c.AdminListen, "`address` for metrics and profiles; never public; empty for none")
	f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "`URL` at which others reach this server")
	f.Float64Var(&c.RateLimit, "rate-limit", c.RateLimit, "`requests` a second allowed to each organization; 0 for no limit")
	f.IntVar(&c.Connections, "connections-per-address", c.Connections, "`connections` that one address may hold open; 0 for no limit")
	f.Var(&c.TrustedProxies, "trusted-proxy", "`network` of reverse proxies whose X-Forwarded-For is believed, besides loopback; may be given again")
	f.Var(&c.WebhookCAs, "webhook-ca-file", "PEM `file` of a certificate authority that webhooks may use besides the system's; may be given again")
	f.Var(&c.WebhookNets, "webhook-allow-cidr", "private `network` that webhooks may reach, such as 127.0.0.1/32; may be given again")
	f.Var(&c.WebhookPorts, "webhook-port", "`port` that webhooks may use besides 443 and 8443; may be given again")
	f.Var(&c.Geocoders, "geocoder", "`URL` of a geocoder: nominatim+https://…, photon+https://… or google+https://…?key=…; may be given again")
	f.Var(&c.Routers, "router", "`URL` of a router: osrm+https://… or valhalla+https://…; may be given again")
	f.StringVar(&c.Uploads, "uploads", c.Uploads, "`place` of signatures and photos: disk, database or s3://bucket/prefix?region=…&endpoint=…; disk unless given, or database with PostgreSQL")
	c.SMS.bind(f)
	f.Var((*level)(&c.LogLevel), "log-level", "least important log `level`: debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", c.LogFormat, "`form` of log lines: json or text")
}

// level is how important log lines must be.
type level slog.Level

// String implements flag.Value.
func (l *level) String() string { return strings.ToLower(slog.Level(*l).String()) }

// Set implements flag.Value.
func (l *level) Set(text string) error {
	if (*slog.Level)(l).UnmarshalText([]byte(text)) != nil {
		return errors.New("it must be debug, info, warn or error")
	}
	return nil
}

// list is a flag that may be given several times; a variable holds the values
// separated by commas.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			*l = append(*l, item)
		}
	}
	return nil
}

// check refuses settings that cannot be right.
func (c *Config) check() error {
	if c.RateLimit < 0 {
		return errors.New("--rate-limit must not be negative")
	}
	if c.Connections < 0 {
		return errors.New("--connections-per-address must not be negative")
	}
	if c.LogFormat != "json" && c.LogFormat != "text" {
		return fmt.Errorf("--log-format must be json or text, not %q", c.LogFormat)
	}
	if err := c.checkAddresses(); err != nil {
		return err
	}
	if err := checkUploads(c.Uploads); err != nil {
		return err
	}
	if _, err := c.geocoders(geo.Options{}, nil, nil); err != nil {
		return err
	}
	if _, err := c.routers(geo.Options{}); err != nil {
		return err
	}
	if err := c.SMS.check(); err != nil {
		return err
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("--public-url must be an http or https URL, not %q", c.PublicURL)
		}
	}
	return nil
}

// checkAddresses refuses what cannot be listened on, reached or believed.
func (c *Config) checkAddresses() error {
	for flag, address := range map[string]string{"--listen": c.Listen, "--admin-listen": c.AdminListen} {
		if address == "" && flag == "--admin-listen" {
			continue
		}
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return fmt.Errorf("%s must be an address and a port such as 127.0.0.1:8080, not %q", flag, address)
		}
	}
	if scheme, _, ok := strings.Cut(c.Database, "://"); ok && scheme != "postgres" && scheme != "postgresql" {
		return fmt.Errorf("--database must be a postgres:// URL, not one of %s://", scheme)
	}
	if _, err := newCallers(c.TrustedProxies); err != nil {
		return err
	}
	if len(c.WebhookNets) == 0 && len(c.WebhookPorts) == 0 {
		return nil
	}
	options, err := c.egressOptions()
	if err == nil {
		_, err = webhook.NewEgress(options)
	}
	return err
}

// url is where others reach the server, without a slash at the end.
func (c *Config) url() string {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	return "http://" + c.Listen
}

func (c *Config) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(os.Stderr, options))
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, options))
}
