package tileapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/tile"
)

// The limits of requests to another server.
const (
	remoteBytes   = 64 << 20 // cache of parts of its file
	remoteTime    = 10 * time.Second
	remoteAtOnce  = 32               // requests
	remoteRetry   = 10 * time.Second // after it failed
	remoteRefresh = 10 * time.Minute // to notice a new version of the file
)

// Open returns the tiles at a configured URL. It is that of a PMTiles file, or a template with
// {z}, {x} and {y}.
func Open(raw string, client *http.Client, now func() time.Time) (Tiles, error) {
	u, err := url.Parse(strings.NewReplacer("{z}", "0", "{x}", "0", "{y}", "0").Replace(raw))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("it must be an http or https URL, of a PMTiles file or with {z}, {x} and {y}, not %q", raw)
	}
	fields := 0
	for _, field := range []string{"{z}", "{x}", "{y}"} {
		fields += min(strings.Count(raw, field), 1)
	}
	switch {
	case fields == 3:
		return template(raw), nil
	case fields == 0 && strings.HasSuffix(strings.ToLower(u.Path), ".pmtiles"):
		return &remote{url: raw, client: client, now: now, parts: cache{most: remoteBytes}, slots: make(chan struct{}, remoteAtOnce), opening: make(chan struct{}, 1)}, nil
	}
	return nil, fmt.Errorf("it must be the URL of a file whose name ends in .pmtiles, or a URL with {z}, {x} and {y}, not %q", raw)
}

// Origin returns the origin of the server from which browsers request tiles directly; empty if
// there is none.
func Origin(t Tiles) string {
	at, ok := t.(template)
	if !ok {
		return ""
	}
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(string(at)))
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// template is the URL of tiles that browsers request from another server.
type template string

// Describe implements Tiles. It assumes that the tiles of the other server have the layers and
// zoom levels of those that Dray builds.
func (t template) Describe(context.Context) (Description, error) {
	return Description{
		Info: tile.Info{
			MinZoom: tile.MinZoom, MaxZoom: tile.MaxZoom, Bounds: [4]float64{-180, -85.0511, 180, 85.0511}, Attribution: tile.Attribution, Layers: tile.Layers,
		},
		Template: string(t),
	}, nil
}

// Tile implements Tiles.
func (t template) Tile(context.Context, int, int, int) ([]byte, string, error) { return nil, "", nil }

// remote is a PMTiles file on another server, of which it reads the parts that are needed.
type remote struct {
	url    string
	client *http.Client
	now    func() time.Time
	parts  cache
	slots  chan struct{}

	opening chan struct{} // has an element while the first version of the file is opened
	mu      sync.Mutex
	file    *tile.Map
	version string
	next    time.Time // when the file is opened again
}

// errRemote returns the error that clients see if the other server fails.
func errRemote() *lastmile.Error {
	return lastmile.Overloaded("the tiles cannot be read from the server that has them: try again later")
}

// open returns the file. It is opened again now and then, and after a failure. Requests
// wait for it only if there is no earlier version.
func (r *remote) open(ctx context.Context) (*tile.Map, string, error) {
	file, version, due := r.current()
	if file == nil && due {
		select {
		case r.opening <- struct{}{}:
			defer func() { <-r.opening }()
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
		file, version, due = r.current()
	}
	switch {
	case due && file != nil:
		r.mu.Lock()
		r.next = r.now().Add(remoteRetry) // meanwhile, others use the earlier version
		r.mu.Unlock()
	case due:
	case file == nil:
		return nil, "", errRemote()
	default:
		return file, version, nil
	}
	opened, tag, err := r.read(ctx)
	if errors.Is(err, errReplaced) {
		opened, tag, err = r.read(ctx)
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) { // the caller has gone, which says nothing about the server
		return nil, "", ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.next = r.now().Add(remoteRetry)
		if r.file == nil {
			return nil, "", errors.Join(errRemote(), err)
		}
		return r.file, r.version, nil
	}
	r.next = r.now().Add(remoteRefresh)
	if r.file == nil || tag != r.version {
		r.file, r.version = opened.From(r.source(tag)), tag
	}
	return r.file, r.version, nil
}

// errReplaced means that parts of a file are of different versions.
var errReplaced = errors.New("the file has changed")

// read reads the directory of the file, and the tag of its version.
func (r *remote) read(ctx context.Context) (file *tile.Map, tag string, err error) {
	file, err = tile.OpenSource(ctx, func(ctx context.Context, offset, length uint64) ([]byte, error) {
		content, got, err := r.fetch(ctx, offset, length)
		if err == nil && tag != "" && got != tag {
			err = errReplaced
		}
		tag = got
		return content, err
	})
	return file, tag, err
}

// current returns the file that was opened last, and reports whether it is time to open it.
func (r *remote) current() (file *tile.Map, version string, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file, r.version, !r.now().Before(r.next)
}

// source returns the source of a version of the file.
func (r *remote) source(version string) tile.Source {
	return func(ctx context.Context, offset, length uint64) ([]byte, error) {
		key := fmt.Sprintf("%s/%d/%d", version, offset, length)
		if content, ok := r.parts.get(key); ok {
			return content, nil
		}
		content, tag, err := r.fetch(ctx, offset, length)
		if err == nil && tag != version {
			r.mu.Lock()
			r.next = time.Time{} // a new version: open it with the next request
			r.mu.Unlock()
			err = errReplaced
		}
		if err != nil {
			return nil, errors.Join(errRemote(), err)
		}
		r.parts.put(key, content)
		return content, nil
	}
}

// fetch requests a part of the file. The tag identifies its version.
func (r *remote) fetch(ctx context.Context, offset, length uint64) (content []byte, tag string, err error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	request.Header.Set("Accept-Encoding", "identity")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return nil, "", fmt.Errorf("the server of the tiles responded with status %d to a request for a part of the file", response.StatusCode)
	}
	content, err = io.ReadAll(io.LimitReader(response.Body, int64(length)))
	if err == nil && uint64(len(content)) != length {
		err = errors.New("the server of the tiles sent less than was requested")
	}
	return content, version(response), err
}

// version returns a hash that changes with the file.
func version(r *http.Response) string {
	_, size, _ := strings.Cut(r.Header.Get("Content-Range"), "/")
	return shorten(r.Header.Get("Etag") + r.Header.Get("Last-Modified") + size)
}

// Describe implements Tiles.
func (r *remote) Describe(ctx context.Context) (Description, error) {
	file, version, err := r.open(ctx)
	if err != nil {
		return Description{}, err
	}
	return Description{Info: file.Info(), Version: version}, nil
}

// Tile implements Tiles.
func (r *remote) Tile(ctx context.Context, zoom, x, y int) (content []byte, version string, err error) {
	file, version, err := r.open(ctx)
	if err != nil {
		return nil, "", err
	}
	content, err = file.Tile(ctx, zoom, x, y)
	return content, version, err
}
