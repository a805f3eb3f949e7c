package sqlorder

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"dray/internal/order"
	"dray/internal/store/engine"
)

// maxDecoded is the maximum total size in bytes of the documents whose services are cached.
const maxDecoded = 16 << 20

// Decoded caches decoded delivery services, keyed by the hash of their documents. Each
// request for quotes reads all services of a courier, and decoding their areas takes ten
// times as long as everything else. The services that it returns are shared and must not
// be changed. A nil Decoded caches nothing.
type Decoded struct {
	mu       sync.Mutex
	services map[[sha256.Size]byte]decoded
	size     int
}

type decoded struct {
	service order.Service
	size    int
}

// scan reads a service.
func (d *Decoded) scan(r engine.Rows) (order.Service, error) {
	if d == nil {
		return engine.ScanDocument[order.Service](r)
	}
	var doc engine.Raw
	if err := r.Scan(&doc); err != nil {
		return order.Service{}, err
	}
	hash := sha256.Sum256(doc)
	if known, ok := d.known(hash); ok {
		return known, nil
	}
	var service order.Service
	if err := json.Unmarshal(doc, &service); err != nil {
		return service, err
	}
	d.keep(hash, decoded{service, len(doc)})
	return service, nil
}

func (d *Decoded) known(hash [sha256.Size]byte) (order.Service, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.services[hash]
	return known.service, ok
}

// keep keeps a service, and drops others at random if there are too many.
func (d *Decoded) keep(hash [sha256.Size]byte, one decoded) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.services[hash]; ok || one.size > maxDecoded {
		return
	}
	for other, old := range d.services {
		if d.size+one.size <= maxDecoded {
			break
		}
		delete(d.services, other)
		d.size -= old.size
	}
	if d.services == nil {
		d.services = map[[sha256.Size]byte]decoded{}
	}
	d.services[hash] = one
	d.size += one.size
}
