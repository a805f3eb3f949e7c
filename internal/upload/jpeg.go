package upload

import (
	"bytes"
	"encoding/binary"
)

// jpegHead holds properties of an image from the segments of its file.
type jpegHead struct {
	orientation int   // Exif orientation; the default is 1
	progressive bool  // the decoder keeps all coefficients in memory
	samples     int64 // half samples per pixel: 6 for three components, 3 with subsampled color
	scans       int64 // number of scans; each makes the decoder visit all pixels
	rgb         bool  // a segment says that the colors are not YCbCr
}

// Markers of the segments that are read.
const (
	markerSOF0  = 0xc0
	markerSOF2  = 0xc2
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerAPP1  = 0xe1
	markerAPP14 = 0xee // Adobe's color transform
)

// readJPEGHead reads the segments of a JPEG file. Like the decoder, it skips the bytes between
// them: the pixels after the header of a scan, and padding. If it cannot read a property, it
// assumes the value that needs the most memory.
func readJPEGHead(data []byte) jpegHead {
	head := jpegHead{orientation: 1, samples: 8}
	for at := 2; at+4 <= len(data); {
		marker := data[at+1]
		switch {
		case data[at] != 0xff, marker == 0xff: // pixels or padding
			at++
			continue
		case marker == 0, marker >= markerRST0 && marker <= markerRST7: // part of pixels
			at += 2
			continue
		case marker == markerEOI:
			return head
		}
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end < at+4 || end > len(data) {
			return head
		}
		segment := data[at+4 : end]
		switch {
		case marker == markerSOS:
			head.scans++
		case marker >= markerSOF0 && marker <= markerSOF2:
			head.progressive = marker == markerSOF2
			head.samples = halfSamples(segment)
		case marker == markerAPP1 && head.scans == 0:
			if exif, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
				head.orientation = orientation(exif)
			}
		case marker == markerAPP14 && len(segment) >= 12 && segment[11] == 0:
			head.rgb = true
		}
		at = end
	}
	return head
}

// halfSamples returns the number of half samples per pixel in all components of a frame header
// together.
func halfSamples(frame []byte) int64 {
	const fixed, each, worst = 6, 3, 8
	if len(frame) < fixed {
		return worst
	}
	components := int(frame[5])
	if components == 0 || len(frame) < fixed+each*components {
		return worst
	}
	var all, most int64
	for i := range components {
		factors := frame[fixed+each*i+1]
		samples := int64(factors>>4) * int64(factors&15)
		all, most = all+samples, max(most, samples)
	}
	if most == 0 {
		return worst
	}
	return (2*all + most - 1) / most
}

// orientation returns the orientation of the camera from an Exif block, which is a TIFF header
// and a list of entries.
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
