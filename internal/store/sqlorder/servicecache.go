package sqlorder

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"dray/internal/order"
	"dray/internal/store/engine"
)

// maxCached is the maximum total size in bytes of the documents whose services are cached.
const maxCached = 16 << 20

// ServiceCache caches decoded delivery services, keyed by the hash of their documents. Each
// request for quotes reads all services of a courier, and decoding their areas takes ten
// times as long as everything else. The services that it returns are shared and must not
// be changed. A nil ServiceCache caches nothing.
type ServiceCache struct {
	mu       sync.Mutex
	services map[[sha256.Size]byte]cacheEntry
	size     int
}

type cacheEntry struct {
	service order.Service
	size    int
}

// scan reads a service, from the cache if its document is known.
func (c *ServiceCache) scan(r engine.Rows) (order.Service, error) {
	if c == nil {
		return engine.ScanDocument[order.Service](r)
	}
	var doc engine.Raw
	if err := r.Scan(&doc); err != nil {
		return order.Service{}, err
	}
	hash := sha256.Sum256(doc)
	if known, ok := c.get(hash); ok {
		return known, nil
	}
	var service order.Service
	if err := json.Unmarshal(doc, &service); err != nil {
		return service, err
	}
	c.put(hash, cacheEntry{service, len(doc)})
	return service, nil
}

func (c *ServiceCache) get(hash [sha256.Size]byte) (order.Service, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.services[hash]
	return entry.service, ok
}

// put adds a service, and drops others at random if there are too many.
func (c *ServiceCache) put(hash [sha256.Size]byte, one cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.services[hash]; ok || one.size > maxCached {
		return
	}
	for other, old := range c.services {
		if c.size+one.size <= maxCached {
			break
		}
		delete(c.services, other)
		c.size -= old.size
	}
	if c.services == nil {
		c.services = map[[sha256.Size]byte]cacheEntry{}
	}
	c.services[hash] = one
	c.size += one.size
}
