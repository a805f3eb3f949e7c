package textmessage

import (
	"strings"
	"unicode/utf16"
)

// The characters of GSM 03.38 and of its extension table, which count twice.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

// The encodings of text messages.
const (
	GSM = "GSM-7"
	UCS = "UCS-2"
)

// Encoding returns the encoding that a network uses for a text, and how many of its
// units the text has.
func Encoding(text string) (name string, units int) {
	name, costs := encode(text)
	for _, c := range costs {
		units += c
	}
	return name, units
}

// encode returns the encoding of a text and the units of each character.
func encode(text string) (name string, costs []int) {
	costs = make([]int, 0, len(text))
	for _, r := range text {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			costs = append(costs, 1)
		case strings.ContainsRune(gsmExtension, r):
			costs = append(costs, 2)
		default:
			return UCS, unitsOf(text)
		}
	}
	return GSM, costs
}

// Segments returns how many segments a network charges for a text: 160
// characters each in the GSM alphabet, 70 otherwise, and slightly fewer if
// there are several segments.
func Segments(text string) int {
	if text == "" {
		return 0
	}
	name, costs := encode(text)
	if name == UCS {
		return pack(costs, 70, 67)
	}
	return pack(costs, 160, 153)
}

// unitsOf returns the number of UTF-16 code units of each character.
func unitsOf(text string) []int {
	costs := make([]int, 0, len(text))
	for _, r := range text {
		costs = append(costs, max(utf16.RuneLen(r), 1))
	}
	return costs
}

// pack counts segments. Characters are not split across segments.
func pack(costs []int, alone, several int) int {
	total := 0
	for _, c := range costs {
		total += c
	}
	if total <= alone {
		return 1
	}
	segments, used := 1, 0
	for _, c := range costs {
		if used+c > several {
			segments, used = segments+1, 0
		}
		used += c
	}
	return segments
}
