package web

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryColorIsReadableOnEveryBackground(t *testing.T) {
	backgrounds := map[string][]string{"light": {"#f6f7f8", "#ffffff"}, "dark": {"#14171a", "#1e2327"}}
	for _, all := range backgrounds {
		for _, b := range all {
			if !strings.Contains(strings.ReplaceAll(trackStyle, "#fff;", "#ffffff;"), b) {
				t.Errorf("track.css has no background %s", b)
			}
		}
	}
	for r := 0; r <= 255; r += 51 {
		for g := 0; g <= 255; g += 51 {
			for b := 0; b <= 255; b += 51 {
				color := fmt.Sprintf("#%02x%02x%02x", r, g, b)
				for scheme, accent := range map[string]string{"light": readable(color, lightGround, 0), "dark": readable(color, darkGround, 255)} {
					for _, ground := range backgrounds[scheme] {
						if c := contrast(luminance(parseColor(accent)), luminance(parseColor(ground))); c < 4.5 {
							t.Errorf("%s becomes %s in the %s scheme: contrast %.2f to %s", color, accent, scheme, c, ground)
						}
					}
				}
			}
		}
	}
	for color, want := range map[string][2]string{"#0b6b50": {"#0b6b50", ""}, "#58c7a4": {"", "#58c7a4"}} {
		if got := readable(color, lightGround, 0); want[0] != "" && got != want[0] {
			t.Errorf("%s is readable on light ground, and becomes %s", color, got)
		}
		if got := readable(color, darkGround, 255); want[1] != "" && got != want[1] {
			t.Errorf("%s is readable on dark ground, and becomes %s", color, got)
		}
	}
	if accents("") != "" || !strings.Contains(accents("#0b6b50"), "--accent: #0b6b50;") {
		t.Errorf("style %q", accents("#0b6b50"))
	}
}
