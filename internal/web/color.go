package web

import (
	"fmt"
	"math"
	"strings"
)

// Backgrounds of track.css with the least contrast to accents, and the contrast that
// text needs (WCAG 2.2, 1.4.3). Text on buttons has the color of a background.
const (
	lightGround = "#f6f7f8"
	darkGround  = "#1e2327"
	minContrast = 4.6 // 4.5, and some for rounding
)

// accents returns the style that gives a page the color of an organization, which
// has the form #rrggbb, made darker or lighter where it would be hard to read.
func accents(color string) string {
	if color == "" {
		return ""
	}
	return fmt.Sprintf("\n:root { --accent: %s; }\n@media (prefers-color-scheme: dark) { :root { --accent: %s; } }\n",
		readable(color, lightGround, 0), readable(color, darkGround, 255))
}

// readable mixes as little as necessary of black (0) or white (255) into a color, so
// that it has enough contrast to a background.
func readable(color, ground string, toward float64) string {
	rgb, against := parseColor(color), luminance(parseColor(ground))
	mixed := rgb
	for percent := 0.0; percent <= 100; percent++ {
		for i, c := range rgb {
			mixed[i] = math.Round(c + (toward-c)*percent/100)
		}
		if contrast(luminance(mixed), against) >= minContrast {
			break
		}
	}
	return fmt.Sprintf("#%02x%02x%02x", int(mixed[0]), int(mixed[1]), int(mixed[2]))
}

// parseColor returns the red, green and blue of a color, from 0 to 255; black if it
// is malformed.
func parseColor(color string) (rgb [3]float64) {
	var r, g, b uint8
	if _, err := fmt.Sscanf(strings.ToLower(color), "#%02x%02x%02x", &r, &g, &b); err != nil {
		return rgb
	}
	return [3]float64{float64(r), float64(g), float64(b)}
}

// luminance is the relative luminance of a color as defined by WCAG.
func luminance(rgb [3]float64) float64 {
	var linear [3]float64
	for i, c := range rgb {
		if c /= 255; c <= 0.04045 {
			linear[i] = c / 12.92
		} else {
			linear[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
