package textmessage

import (
	"strings"
	"unicode/utf16"
)

// The characters of GSM 03.38, and those of its extension, which count twice.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

// Segments is how many text messages a text is to a network, which charges each:
// 160 characters in the network's own alphabet, 70 in any other, and a little
// fewer when there are several.
func Segments(text string) int {
	if text == "" {
		return 0
	}
	costs := make([]int, 0, len(text))
	for _, r := range text {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			costs = append(costs, 1)
		case strings.ContainsRune(gsmExtension, r):
			costs = append(costs, 2)
		default:
			return pack(unitsOf(text), 70, 67)
		}
	}
	return pack(costs, 160, 153)
}

// unitsOf is how many 16-bit units each character takes.
func unitsOf(text string) []int {
	costs := make([]int, 0, len(text))
	for _, r := range text {
		costs = append(costs, max(utf16.RuneLen(r), 1))
	}
	return costs
}

// pack counts segments; no character is split between two.
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
