package upload

import (
	"bytes"
	"encoding/binary"
)

// jpegHead is what the segments before the picture say of it.
type jpegHead struct {
	orientation int   // of Exif; 1 when nothing is said
	progressive bool  // decoded from coefficients that are all kept
	samples     int64 // half samples of a pixel: 6 for three components, 3 when colour is coarser
}

// The marks of the segments that are looked at.
const (
	markSOF0 = 0xc0
	markSOF2 = 0xc2
	markSOS  = 0xda
	markAPP1 = 0xe1
)

// readJPEGHead walks the segments of a JPEG file up to its picture. What it
// cannot read it leaves at what is most careful.
func readJPEGHead(data []byte) jpegHead {
	head := jpegHead{orientation: 1, samples: 8}
	for at := 2; at+4 <= len(data); {
		if data[at] != 0xff {
			return head
		}
		mark := data[at+1]
		if mark == 0xff { // filling
			at++
			continue
		}
		if mark == markSOS {
			return head
		}
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end < at+4 || end > len(data) {
			return head
		}
		segment := data[at+4 : end]
		switch {
		case mark >= markSOF0 && mark <= markSOF2:
			head.progressive = mark == markSOF2
			head.samples = halfSamples(segment)
		case mark == markAPP1:
			if exif, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
				head.orientation = orientation(exif)
			}
		}
		at = end
	}
	return head
}

// halfSamples counts, of a frame header, how many half samples a pixel has in
// all components together.
func halfSamples(frame []byte) int64 {
	const fixed, each, careful = 6, 3, 8
	if len(frame) < fixed {
		return careful
	}
	components := int(frame[5])
	if components == 0 || len(frame) < fixed+each*components {
		return careful
	}
	var all, most int64
	for i := range components {
		factors := frame[fixed+each*i+1]
		samples := int64(factors>>4) * int64(factors&15)
		all, most = all+samples, max(most, samples)
	}
	if most == 0 {
		return careful
	}
	return (2*all + most - 1) / most
}

// orientation finds how a picture was taken in an Exif block: a TIFF header and
// a list of entries.
func orientation(exif []byte) int {
	const (
		upright, entrySize = 1, 12
		tagOrientation     = 0x0112
		typeShort          = 3
	)
	if len(exif) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(exif[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	first := uint64(order.Uint32(exif[4:]))
	if first+2 > uint64(len(exif)) {
		return upright
	}
	count := uint64(order.Uint16(exif[first:]))
	for i := range count {
		at := first + 2 + i*entrySize
		if at+entrySize > uint64(len(exif)) {
			return upright
		}
		entry := exif[at:]
		if order.Uint16(entry) == tagOrientation && order.Uint16(entry[2:]) == typeShort {
			if value := int(order.Uint16(entry[8:])); value >= 1 && value <= 8 {
				return value
			}
			return upright
		}
	}
	return upright
}
