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
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
)

// Config holds the settings of a node.
type Config struct {
	Listen         string
	AdminListen    string
	PublicURL      string // default http://Listen
	Data           string
	Database       string // postgres:// URL; SQLite in Data when empty
	MasterKey      string // file of the master key; see masterKey
	RateLimit      float64
	Connections    int // per address; 0 for no limit
	LogLevel       slog.Level
	WebhookCAs     list // files
	WebhookNets    list // CIDRs
	WebhookPorts   list
	LogFormat      string
	Maps           string // folder of imported maps; see MapFolder
	Geocoders      list   // URLs of map services, the best first
	Routers        list
	Tiles          string // URL of tiles instead of those of imported maps; see openTiles
	TrustedProxies list   // CIDRs of proxies whose X-Forwarded-For is trusted
	Uploads        string // where images go; see addUploads
	SMS            smsConfig
	SMTP           string        // URL of the server that sends mails; it contains a password
	MailFrom       string        // address that mails are from
	Speed          float64       // speed of simulated workers; 1 is real time
	DispatchTime   time.Duration // limit of the optimization of one dispatch

	// Patience is how long an operation may wait for the database before it is rejected; 0
	// means the default. It has no flag: tests set it for slow machines.
	Patience time.Duration
	// Poll is the interval at which an idle node checks for work and for changes by other
	// processes that sent no notification, and saves its audit log; 0 means the defaults. It
	// has no flag: tests set it.
	Poll time.Duration
	// Unnotified makes a node on PostgreSQL rely on polling, as it does while the
	// notifications of other nodes do not arrive. It has no flag: tests set it.
	Unnotified bool
	// Purge is the interval at which a node purges expired records; 0 means the default. It
	// has no flag: tests set it.
	Purge time.Duration

	// RequestMemory is the maximum memory of all requests together, in bytes; 0 means a
	// share of the memory limit. It has no flag: tests set it.
	RequestMemory int64

	Existing       bool // reject a data folder without a database instead of creating one
	ShortRetention bool // purge events and positions after a day: a demonstration creates many
	Demo           bool // the node is a demonstration
}

// DefaultConfig returns the default settings.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:8080", AdminListen: "127.0.0.1:8081", Data: "dray-data", Connections: 256, LogFormat: "json", SMS: defaultSMS, Speed: 1, DispatchTime: 10 * time.Second}
}

// BindStorage adds the flags that locate the data.
func (c *Config) BindStorage(f *flag.FlagSet) {
	f.StringVar(&c.Data, "data", c.Data, "`folder` of the embedded database")
	f.StringVar(&c.Database, "database", c.Database, "PostgreSQL `URL` (postgres://…) instead of the embedded database")
	f.StringVar(&c.MasterKey, "master-key-file", c.MasterKey, "`file` of the key that encrypts stored secrets; created on first use")
}

// BindServer adds the flags of a server.
func (c *Config) BindServer(f *flag.FlagSet) {
	f.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve on")
	f.StringVar(&c.AdminListen, "admin-listen", c.AdminListen, "`address` for metrics and profiles, never public; empty for none")
	f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "public `URL` of this server")
	f.Float64Var(&c.RateLimit, "rate-limit", c.RateLimit, "maximum `requests` per second of an organization; 0 for no limit")
	f.IntVar(&c.Connections, "connections-per-address", c.Connections, "maximum open `connections` of one address; 0 for no limit")
	f.Var(&c.TrustedProxies, "trusted-proxy", "`network` of reverse proxies whose X-Forwarded-For is trusted, besides loopback; repeatable")
	f.Var(&c.WebhookCAs, "webhook-ca-file", "PEM `file` of a certificate authority that webhooks may use besides the system's; repeatable")
	f.Var(&c.WebhookNets, "webhook-allow-cidr", "private `network` that webhooks may reach, such as 127.0.0.1/32; repeatable")
	f.Var(&c.WebhookPorts, "webhook-port", "`port` that webhooks may use besides 443 and 8443; repeatable")
	c.BindMaps(f)
	f.Var(&c.Geocoders, "geocoder", "`URL` of a geocoder: nominatim+https://…, photon+https://… or google+https://…?key=…; repeatable")
	f.Var(&c.Routers, "router", "`URL` of a router: osrm+https://… or valhalla+https://…; repeatable")
	f.StringVar(&c.Tiles, "tiles", c.Tiles, "`URL` of the base map in place of imported ones: a .pmtiles file, or vector tiles at https://…/{z}/{x}/{y}")
	f.StringVar(&c.Uploads, "uploads", c.Uploads, "`location` of signatures and photos: disk, database or s3://bucket/prefix?region=…&endpoint=… (default disk; with PostgreSQL database)")
	f.DurationVar(&c.DispatchTime, "dispatch-time", c.DispatchTime, "maximum `time` for optimizing the routes of one dispatch")
	c.SMS.bind(f)
	f.StringVar(&c.SMTP, "smtp", c.SMTP, "`URL` of the server that sends invitations and password resets: smtp://user:password@host:port or smtps://…; without it, links are shown instead")
	f.StringVar(&c.MailFrom, "mail-from", c.MailFrom, "`address` that mails are from, such as \"Dray <dray@example.com>\"")
	f.Var((*level)(&c.LogLevel), "log-level", "minimum log `level`: debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", c.LogFormat, "log `format`: json or text")
}

// level is the minimum level of log lines.
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

// list is a repeatable flag; its environment variable holds the values separated
// by commas.
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

// Check rejects invalid settings.
func (c *Config) Check() error {
	if c.RateLimit < 0 {
		return errors.New("--rate-limit must not be negative")
	}
	if c.Speed != 0 && !(c.Speed >= 0.1 && c.Speed <= 1000) {
		return errors.New("--travel-speed must be between 0.1 and 1000")
	}
	if c.DispatchTime < time.Second || c.DispatchTime > time.Hour {
		return errors.New("--dispatch-time must be between 1s and 1h")
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
	if _, err := c.openTiles(nil, nil); err != nil {
		return err
	}
	if err := c.SMS.check(); err != nil {
		return err
	}
	if _, err := c.mailer(nil, nil); err != nil {
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

// checkAddresses rejects invalid addresses, networks and URLs.
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
	if _, err := newClientIPResolver(c.TrustedProxies); err != nil {
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

// Storage returns the options of commands that open the database directly.
func (c *Config) Storage(log *slog.Logger, progress func(step string, done int64)) sqlstore.Options {
	return sqlstore.Options{Data: c.Data, Database: c.Database, Now: Clock, Logger: log, Cache: databaseCache(false), Progress: progress}
}

// SQLiteVersion returns the version of the embedded SQLite.
func SQLiteVersion() string { return sqlstore.SQLiteVersion() }

// URL returns the public URL of the server, without a trailing slash.
func (c *Config) URL() string {
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
