package mapdata

import (
	"context"
	"hash/crc32"
	"slices"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkedAtOnce is the number of bytes that Checksum reads before it asks whether to end: a
// mapped file may be on a slow disk.
const checkedAtOnce = 1 << 20

// Checksum adds the content of a mapped file to a CRC-32C checksum, which is 0 at first. It
// ends with an error when the context ends.
func Checksum(ctx context.Context, sum uint32, content []byte) (uint32, error) {
	for part := range slices.Chunk(content, checkedAtOnce) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, part)
	}
	return sum, nil
}
