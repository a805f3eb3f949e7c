// Package osm reads and writes extracts of OpenStreetMap in the PBF format, as
// https://wiki.openstreetmap.org/wiki/PBF_Format describes it.
//
// Files are not trusted: whatever they contain, reading them ends with an error
// at worst, in memory that does not depend on their size.
package osm

// Tags are the attributes of an element.
type Tags []Tag

// Tag is one attribute.
type Tag struct{ Key, Value string }

// Get returns the value of a key, or "" if the element does not have it.
func (t Tags) Get(key string) string {
	for _, tag := range t {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// Header describes a file. Its bounds are in degrees and all zero if unknown.
type Header struct {
	Left, Bottom, Right, Top float64
	Timestamp                int64 // of the data, in Unix seconds; 0 if unknown
}

// Node is a point. Its coordinates are in units of 1e-7 degrees.
type Node struct {
	ID       int64
	Lon, Lat int32
	Tags     Tags
}

// Degrees returns the coordinates of a node in degrees.
func (n *Node) Degrees() (lon, lat float64) { return float64(n.Lon) / 1e7, float64(n.Lat) / 1e7 }

// Way is a line or an area: the ids of its nodes in order.
type Way struct {
	ID   int64
	Refs []int64
	Tags Tags
}

// Kind is the kind of an element.
type Kind uint8

// The kinds of elements, as files number them.
const (
	KindNode Kind = iota
	KindWay
	KindRelation
)

// Member is an element of a relation.
type Member struct {
	Kind Kind
	ID   int64
	Role string
}

// Relation is a group of elements with their roles.
type Relation struct {
	ID      int64
	Members []Member
	Tags    Tags
}
