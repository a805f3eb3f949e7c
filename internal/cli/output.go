package cli

import (
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is the appearance of a text on a terminal: the parameter of an SGR sequence.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// screen is an output that people may read on a terminal.
type screen struct {
	io.Writer
	terminal bool // whether it is a terminal
	color    bool
}

// newScreen detects whether an output is a terminal and can show colors. NO_COLOR
// (no-color.org) and TERM=dumb turn colors off.
func newScreen(out io.Writer) screen {
	s := screen{Writer: out}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		s.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	s.color = s.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && runtime.GOOS != "windows"
	return s
}

// paint returns a text in a style.
func (s screen) paint(as style, text string) string {
	if !s.color || as == plain || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}

// printable replaces control characters, which could otherwise move the cursor of
// the operator's terminal: names and addresses come from clients.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r):
			return '�'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, text)
}

// cell is a value in a table.
type cell struct {
	text string
	as   style
}

// table is rows below a header.
type table struct {
	header []string
	rows   [][]cell
}

// add adds a row of values in the plain style.
func (t *table) add(values ...string) {
	row := make([]cell, len(values))
	for i, value := range values {
		row[i] = cell{text: value}
	}
	t.rows = append(t.rows, row)
}

// color sets the style of a value in the last row.
func (t *table) color(column int, as style) { t.rows[len(t.rows)-1][column].as = as }

// format returns the table with aligned columns. It is empty without rows.
func (t *table) format(s screen) string {
	if len(t.rows) == 0 {
		return ""
	}
	header := make([]cell, len(t.header))
	for i, name := range t.header {
		header[i] = cell{name, bold}
	}
	rows, widths := append([][]cell{header}, t.rows...), make([]int, len(header))
	for _, row := range rows {
		for i := range row {
			row[i].text = printable(row[i].text)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, c := range row {
			b.WriteString(s.paint(c.as, c.text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// printTable prints rows: as JSON with --json, otherwise as a table, or a note on
// standard error that there are none, so that scripts read an empty output.
func (inv *invocation) printTable(result any, t *table, none string) error {
	if len(t.rows) == 0 && !inv.json {
		_, err := io.WriteString(inv.errs, none+"\n")
		return err
	}
	return inv.print(result, "%s", t.format(inv.out))
}
