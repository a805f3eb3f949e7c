package spec

import (
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// guide is a page written in a subset of Markdown: headings, paragraphs, lists, tables, fenced
// code, links, bold text and inline code.
type guide struct {
	Title, Path string
	Lead        string // the first paragraph, as plain text
	Headings    []heading
	HTML        template.HTML
}

type heading struct {
	Level        int
	Text, Anchor string
}

// guidePath returns the path of the page of a Markdown file.
func guidePath(file string) string { return "/docs/" + strings.TrimSuffix(file, ".md") }

func readGuides(files fs.FS, order []string) ([]*guide, error) {
	var all []*guide
	for _, file := range order {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, fmt.Errorf("read a guide: %w", err)
		}
		m := markdown{pages: order, lines: strings.Split(string(text), "\n")}
		g, err := m.render()
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", file, err)
		}
		g.Path = guidePath(file)
		all = append(all, g)
	}
	return all, nil
}

// markdown renders the lines of a file.
type markdown struct {
	pages []string // names of all files that have a page
	lines []string // the lines that are not rendered yet
	guide guide
	out   strings.Builder
	err   error
}

func (m *markdown) render() (*guide, error) {
	for len(m.lines) > 0 {
		m.block()
	}
	if m.guide.Title == "" {
		m.err = errors.Join(m.err, errors.New("it has no title"))
	}
	m.guide.HTML = template.HTML(m.out.String()) // every text is escaped
	return &m.guide, m.err
}

// take removes and returns the lines before the first one that does not satisfy a condition.
func (m *markdown) take(while func(line string) bool) []string {
	n := 0
	for n < len(m.lines) && while(m.lines[n]) {
		n++
	}
	taken := m.lines[:n]
	m.lines = m.lines[n:]
	return taken
}

var (
	headingLine = regexp.MustCompile(`^(#{1,3}) (.+)$`)
	itemLine    = regexp.MustCompile(`^(?:[-*]|(\d+)\.) +(.*)$`)
)

// block renders the next block.
func (m *markdown) block() {
	line := m.lines[0]
	switch {
	case strings.TrimSpace(line) == "":
		m.lines = m.lines[1:]
	case headingLine.MatchString(line):
		m.lines = m.lines[1:]
		found := headingLine.FindStringSubmatch(line)
		m.heading(len(found[1]), found[2])
	case strings.HasPrefix(line, "```"):
		m.lines = m.lines[1:]
		code := m.take(func(l string) bool { return !strings.HasPrefix(l, "```") })
		if len(m.lines) > 0 {
			m.lines = m.lines[1:]
		}
		m.out.WriteString(codeBlock(strings.TrimPrefix(line, "```"), strings.Join(code, "\n")))
	case strings.HasPrefix(line, "|"):
		m.table(m.take(func(l string) bool { return strings.HasPrefix(l, "|") }))
	case itemLine.MatchString(line):
		m.list(m.take(func(l string) bool { return itemLine.MatchString(l) || strings.HasPrefix(l, "  ") }))
	default:
		text := strings.Join(m.take(func(l string) bool {
			return strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "|") && !headingLine.MatchString(l) && !itemLine.MatchString(l)
		}), "\n")
		if m.guide.Lead == "" {
			m.guide.Lead = plainText(text)
		}
		m.out.WriteString("<p>" + m.inline(text) + "</p>\n")
	}
}

func (m *markdown) heading(level int, text string) {
	h := heading{Level: level, Text: plainText(text), Anchor: slug(plainText(text))}
	if level == 1 {
		m.guide.Title = h.Text
		fmt.Fprintf(&m.out, "<h1>%s</h1>\n", m.inline(text))
		return
	}
	m.guide.Headings = append(m.guide.Headings, h)
	fmt.Fprintf(&m.out, "<h%d id=\"%s\"><a class=\"anchor\" href=\"#%[2]s\">%s</a></h%[1]d>\n", level, h.Anchor, m.inline(text))
}

func (m *markdown) table(rows []string) {
	m.out.WriteString(`<div class="scroll" tabindex="0"><table><thead>`)
	for i, row := range rows {
		if i == 1 {
			m.out.WriteString("</thead><tbody>")
			continue
		}
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		m.out.WriteString("<tr>")
		for text := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
			fmt.Fprintf(&m.out, "<%s>%s</%[1]s>", cell, m.inline(strings.TrimSpace(text)))
		}
		m.out.WriteString("</tr>\n")
	}
	m.out.WriteString("</tbody></table></div>\n")
}

func (m *markdown) list(lines []string) {
	var items []string
	tag := "ul"
	for _, line := range lines {
		if found := itemLine.FindStringSubmatch(line); found != nil {
			if found[1] != "" {
				tag = "ol"
			}
			items = append(items, found[2])
			continue
		}
		items[len(items)-1] += "\n" + strings.TrimSpace(line)
	}
	fmt.Fprintf(&m.out, "<%s>\n", tag)
	for _, item := range items {
		fmt.Fprintf(&m.out, "<li>%s</li>\n", m.inline(item))
	}
	fmt.Fprintf(&m.out, "</%s>\n", tag)
}

var inlinePieces = regexp.MustCompile("`([^`]+)`|\\*\\*([^*]+)\\*\\*|\\[([^\\]]+)\\]\\(([^)\\s]+)\\)|<(https?://[^>\\s]+)>")

// inline renders the text of a block.
func (m *markdown) inline(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range inlinePieces.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(html.EscapeString(text[end:at[0]]))
		end = at[1]
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		switch {
		case at[2] >= 0:
			out.WriteString("<code>" + html.EscapeString(group(1)) + "</code>")
		case at[4] >= 0:
			out.WriteString("<strong>" + m.inline(group(2)) + "</strong>")
		case at[6] >= 0:
			fmt.Fprintf(&out, `<a href="%s">%s</a>`, html.EscapeString(m.target(group(4))), m.inline(group(3)))
		default:
			fmt.Fprintf(&out, `<a href="%[1]s">%[1]s</a>`, html.EscapeString(group(5)))
		}
	}
	out.WriteString(html.EscapeString(text[end:]))
	return out.String()
}

// target returns the target of a link on this site. It records an error if there is none.
func (m *markdown) target(link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	if slices.Contains(m.pages, file) {
		return strings.TrimSuffix(guidePath(file)+"#"+anchor, "#")
	}
	if !strings.HasPrefix(link, "#") && !strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "https://") {
		m.err = errors.Join(m.err, fmt.Errorf("the link to %s leads to no page", link))
	}
	return link
}

// plainText returns a text without the markup of Markdown.
func plainText(text string) string {
	return inlinePieces.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), "$1$2$3$5")
}

// codeBlock renders a fenced code block in a language.
func codeBlock(language, code string) string {
	switch language, _, _ = strings.Cut(strings.TrimSpace(language), " "); language {
	case "sh":
		return `<pre class="shell" tabindex="0"><code>` + shellHTML(code) + "</code></pre>\n"
	case "json":
		var out strings.Builder
		for _, piece := range highlight(code) {
			if piece.Class == "" {
				out.WriteString(html.EscapeString(piece.Text))
				continue
			}
			fmt.Fprintf(&out, `<span class="%s">%s</span>`, piece.Class, html.EscapeString(piece.Text))
		}
		return `<pre class="json" tabindex="0"><code>` + out.String() + "</code></pre>\n"
	}
	return `<pre class="code" tabindex="0"><code>` + html.EscapeString(code) + "</code></pre>\n"
}

// keyMark is the variable in commands that the page replaces with the reader's key.
const keyMark = "$KEY"

// shellHTML renders a command. It marks the key, which the page fills in, and replaces the
// address of a local server with originMark.
func shellHTML(command string) string {
	command = strings.ReplaceAll(html.EscapeString(command), "http://localhost:8080", originMark)
	return strings.ReplaceAll(command, keyMark, "<var>"+keyMark+"</var>")
}
