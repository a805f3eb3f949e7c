package tile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"dray/internal/tile"
)

// content summarizes the tiles of a map.
type content struct {
	tiles, largest, largestPacked int
	layers                        map[string]int // features of the highest zoom level
}

// at returns the position of the tile at a location.
func at(zoom int, lon, lat float64) (x, y int) {
	n := math.Exp2(float64(zoom))
	sin := math.Sin(lat * math.Pi / 180)
	return int((lon + 180) / 360 * n), int((0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)) * n)
}

// survey reads all tiles of a map within its bounds.
func survey(t *testing.T, m *tile.Map) content {
	t.Helper()
	s := content{layers: map[string]int{}}
	b := m.Info().Bounds
	for zoom := tile.MinZoom; zoom <= tile.MaxZoom; zoom++ {
		west, north := at(zoom, b[0], b[3])
		east, south := at(zoom, b[2], b[1])
		for x := west; x <= east; x++ {
			for y := north; y <= south; y++ {
				packed, err := m.Tile(t.Context(), zoom, x, y)
				if err != nil {
					t.Fatal(err)
				}
				if packed == nil {
					continue
				}
				plain := inflate(t, packed)
				s.tiles++
				s.largest, s.largestPacked = max(s.largest, len(plain)), max(s.largestPacked, len(packed))
				for _, l := range decode(t, plain) {
					if zoom == tile.MaxZoom {
						s.layers[l.name] += len(l.features)
					}
				}
			}
		}
	}
	return s
}

func inflate(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// layer is a layer of a tile, decoded by the specification of vector tiles.
type layer struct {
	name            string
	version, extent uint64
	features        []feature
}

// feature is a feature of a layer.
type feature struct {
	kind  uint64 // 1 points, 2 lines, 3 polygons
	tags  map[string]any
	parts [][][2]int // points, lines or closed rings
}

// fields calls a function with the fields of a protocol buffer.
func fields(t *testing.T, b []byte, each func(number, value uint64, content []byte)) {
	t.Helper()
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a field is cut")
		}
		b = b[n:]
		value, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a field is cut")
		}
		b = b[n:]
		switch key & 7 {
		case 0:
			each(key>>3, value, nil)
		case 2:
			if uint64(len(b)) < value {
				t.Fatal("a field is cut")
			}
			each(key>>3, value, b[:value])
			b = b[value:]
		default:
			t.Fatalf("field %d has type %d", key>>3, key&7)
		}
	}
}

func numbers(t *testing.T, b []byte) (all []uint64) {
	t.Helper()
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a number is cut")
		}
		all, b = append(all, v), b[n:]
	}
	return all
}

func signed(v uint64) int { return int(v>>1) ^ -int(v&1) }

// decode decodes a tile and checks that it is valid.
func decode(t *testing.T, plain []byte) (all []layer) {
	t.Helper()
	fields(t, plain, func(number, _ uint64, content []byte) {
		if number != 3 {
			t.Fatalf("a tile has field %d", number)
		}
		all = append(all, decodeLayer(t, content))
	})
	return all
}

func decodeLayer(t *testing.T, b []byte) (l layer) {
	t.Helper()
	var keys []string
	var values []any
	var encoded [][]byte
	fields(t, b, func(number, value uint64, content []byte) {
		switch number {
		case 1:
			l.name = string(content)
		case 2:
			encoded = append(encoded, content)
		case 3:
			keys = append(keys, string(content))
		case 4:
			fields(t, content, func(number, value uint64, text []byte) {
				switch number {
				case 1:
					values = append(values, string(text))
				case 6:
					values = append(values, signed(value))
				case 7:
					values = append(values, value == 1)
				}
			})
		case 5:
			l.extent = value
		case 15:
			l.version = value
		}
	})
	if l.version != 2 || l.extent != 4096 || l.name == "" || len(encoded) == 0 {
		t.Fatalf("layer %+v with %d features", l, len(encoded))
	}
	for _, e := range encoded {
		f := feature{tags: map[string]any{}}
		fields(t, e, func(number, value uint64, content []byte) {
			switch number {
			case 2:
				tags := numbers(t, content)
				for i := 0; i+1 < len(tags); i += 2 {
					f.tags[keys[tags[i]]] = values[tags[i+1]]
				}
			case 3:
				f.kind = value
			case 4:
				f.parts = decodeGeometry(t, numbers(t, content))
			}
		})
		if f.kind == 0 || len(f.parts) == 0 {
			t.Fatalf("%s has an empty feature", l.name)
		}
		if f.kind == 3 {
			for i, ring := range f.parts {
				if sum := area(ring); sum == 0 || i == 0 && sum < 0 || len(ring) < 4 {
					t.Fatalf("%s: ring %d has the area %d: %v", l.name, i, sum, ring)
				}
			}
		}
		l.features = append(l.features, f)
	}
	return l
}

func area(ring [][2]int) (sum int) {
	for i := 1; i < len(ring); i++ {
		sum += ring[i-1][0]*ring[i][1] - ring[i][0]*ring[i-1][1]
	}
	return sum
}

func decodeGeometry(t *testing.T, commands []uint64) (parts [][][2]int) {
	t.Helper()
	x, y := 0, 0
	for i := 0; i < len(commands); {
		what, count := commands[i]&7, int(commands[i]>>3)
		i++
		switch what {
		case 1, 2:
			if count == 0 || i+2*count > len(commands) || what == 2 && len(parts) == 0 {
				t.Fatal("a geometry is cut")
			}
			for range count {
				x, y = x+signed(commands[i]), y+signed(commands[i+1])
				i += 2
				if x < -100 || y < -100 || x > 4196 || y > 4196 {
					t.Fatalf("a point at %d, %d is outside of the tile", x, y)
				}
				if what == 1 {
					parts = append(parts, nil)
				}
				parts[len(parts)-1] = append(parts[len(parts)-1], [2]int{x, y})
			}
		case 7:
			last := len(parts) - 1
			parts[last] = append(parts[last], parts[last][0])
		default:
			t.Fatalf("command %d", what)
		}
	}
	return parts
}
