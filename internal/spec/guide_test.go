package spec

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestGuides(t *testing.T) {
	files := fstest.MapFS{
		"a.md": {Data: []byte("# A <title>\n\nFirst `code`, **bold**\nand [b](b.md#part) & more.\n\n## Part & parcel\n\n- one\n  goes on\n- two\n\n1. first\n\n" +
			"| Name | <Value> |\n|---|---|\n| `x` | 1 |\n\n```sh\ncurl -u \"$KEY:\" \"http://localhost:8080/x\" | jq '<'\n```\n\n```json\n{\"a\": \"<b>\", \"n\": 1}\n```\n\n<script>alert(1)</script>\n")},
		"b.md": {Data: []byte("# B\n\n## Part\n")},
	}
	guides, err := readGuides(files, []string{"a.md", "b.md"})
	if err != nil {
		t.Fatal(err)
	}
	a := guides[0]
	if a.Title != "A <title>" || a.Path != "/docs/a" || a.Lead != "First code, bold and b & more." || len(a.Headings) != 1 || a.Headings[0].Anchor != "part-parcel" {
		t.Errorf("the guide is %+v", a)
	}
	page := string(a.HTML)
	for _, want := range []string{
		"<h1>A &lt;title&gt;</h1>",
		"<p>First <code>code</code>, <strong>bold</strong>\nand <a href=\"/docs/b#part\">b</a> &amp; more.</p>",
		`<h2 id="part-parcel"><a class="anchor" href="#part-parcel">Part &amp; parcel</a></h2>`,
		"<ul>\n<li>one\ngoes on</li>\n<li>two</li>\n</ul>",
		"<ol>\n<li>first</li>\n</ol>",
		"<th>&lt;Value&gt;</th></tr>",
		"<td><code>x</code></td><td>1</td>",
		`curl -u &#34;<var>$KEY</var>:&#34; &#34;@origin@/x&#34; | jq &#39;&lt;&#39;`,
		`<span class="key">&#34;a&#34;</span>: <span class="str">&#34;&lt;b&gt;&#34;</span>`,
		"<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}

func TestGuidesWithErrors(t *testing.T) {
	for name, text := range map[string]string{
		"a link to no page":  "# A\n\n[b](missing.md)\n",
		"a link to a script": "# A\n\n[b](javascript:alert)\n",
		"no title":           "Text.\n",
	} {
		if _, err := readGuides(fstest.MapFS{"a.md": {Data: []byte(text)}}, []string{"a.md"}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := readGuides(fstest.MapFS{}, []string{"a.md"}); err == nil {
		t.Error("a missing file: no error")
	}
}
