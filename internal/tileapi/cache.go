package tileapi

import (
	"container/list"
	"sync"
)

// cache keeps contents by key, up to a size in bytes. The least recently used are dropped.
type cache struct {
	most int

	mu    sync.Mutex
	size  int
	order list.List // elements are of type cached, the most recently used first
	all   map[string]*list.Element
}

type cached struct {
	key     string
	content []byte
}

func (c *cache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.all[key]
	if e == nil {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cached).content, true
}

func (c *cache) put(key string, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] != nil || len(content) > c.most/4 {
		return
	}
	if c.all == nil {
		c.all = map[string]*list.Element{}
	}
	c.all[key] = c.order.PushFront(cached{key, content})
	c.size += len(content) + len(key)
	for c.size > c.most {
		last := c.order.Back()
		old := c.order.Remove(last).(cached)
		delete(c.all, old.key)
		c.size -= len(old.content) + len(old.key)
	}
}
