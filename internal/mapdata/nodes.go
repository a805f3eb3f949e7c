package mapdata

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Nodes are the maps of the nodes that share a database, by the name of the node. Each node
// has its own folder, but the maps should be the same.
type Nodes map[string]Node

// Node lists the maps of one node.
type Node struct {
	Seen time.Time         `json:"seen"` // when it was last saved
	Maps map[string]string `json:"maps"` // checksums by name
}

// ParseNodes parses the output of Encode, without nodes that were not seen since a time.
// Empty content has no nodes.
func ParseNodes(content []byte, since time.Time) (Nodes, error) {
	nodes := Nodes{}
	if len(content) == 0 {
		return nodes, nil
	}
	if err := json.Unmarshal(content, &nodes); err != nil {
		return nil, fmt.Errorf("read the maps of other nodes: %w", err)
	}
	maps.DeleteFunc(nodes, func(_ string, n Node) bool { return n.Seen.Before(since) })
	return nodes, nil
}

// Encode returns the nodes as text.
func (n Nodes) Encode() ([]byte, error) { return json.Marshal(n) }

// Differences describes how the maps of other nodes differ from those of one.
func (n Nodes) Differences(self string) string {
	var all []string
	mine := n[self].Maps
	for _, node := range slices.Sorted(maps.Keys(n)) {
		theirs := n[node].Maps
		for _, name := range slices.Sorted(maps.Keys(mine)) {
			if sum, ok := theirs[name]; !ok {
				all = append(all, fmt.Sprintf("%s lacks %s", node, name))
			} else if sum != mine[name] {
				all = append(all, fmt.Sprintf("%s has another version of %s", node, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(theirs)) {
			if _, ok := mine[name]; !ok {
				all = append(all, fmt.Sprintf("%s has %s, which is missing here", node, name))
			}
		}
	}
	return strings.Join(all, "; ")
}

// Checksum returns the beginning of the checksums of a map's files, which identifies
// its version.
func (m Map) Checksum() string {
	var sums []string
	for _, f := range m.Files {
		sums = append(sums, f.Checksum[:min(len(f.Checksum), 8)])
	}
	return strings.Join(sums, "-")
}
