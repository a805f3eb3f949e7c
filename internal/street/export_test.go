package street

import "encoding/binary"

// OpenDamaged opens an index whose header may be wrong: it corrects the checksum of
// the header and the size, so that what they protect is tested as well.
func OpenDamaged(data []byte) (*Index, error) {
	if len(data) >= headSize+entrySize*sections {
		copy(data, magic)
		binary.LittleEndian.PutUint32(data[8:], version)
		binary.LittleEndian.PutUint32(data[12:], sections)
		binary.LittleEndian.PutUint64(data[16:], uint64(len(data)))
		binary.LittleEndian.PutUint32(data[24:], headSum(data))
	}
	return Open(data)
}

// HeadSize is the size of the header.
const HeadSize = headSize + entrySize*sections
