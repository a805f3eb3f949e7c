package wire_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"dray/internal/wire"
)

// TestDocsDescribeFieldsAsTheSourceDoes compares descriptions.json with the
// comments of the sources. With DRAY_UPDATE=1 it writes the file.
func TestDocsDescribeFieldsAsTheSourceDoes(t *testing.T) {
	want := sourceDescriptions(t)
	if os.Getenv("DRAY_UPDATE") != "" {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("descriptions.json", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := wire.Descriptions(); !maps.Equal(got, want) {
		t.Error("descriptions.json differs from the comments in the source: run make docs")
		for key, text := range want {
			if got[key] != text {
				t.Errorf("%s is %q, want %q", key, got[key], text)
			}
		}
	}
}

// sources are the files that declare JSON types: in this package, in package codec (errors),
// and in packages of APIs.
var sources = []string{"*.go", "../codec/*.go", "../*api/json.go", "../*api/*_json.go"}

// sourceDescriptions reads the comments of the structs in the sources.
func sourceDescriptions(t *testing.T) map[string]string {
	t.Helper()
	all := descriptions{}
	for _, pattern := range sources {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				all.addFile(t, name)
			}
		}
	}
	return all
}

func (d descriptions) addFile(t *testing.T, name string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			d.add(g)
		}
	}
}

type descriptions map[string]string

func (d descriptions) add(decl *ast.GenDecl) {
	for _, s := range decl.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		object, ok := spec.Type.(*ast.StructType)
		if !ok || !spec.Name.IsExported() {
			continue
		}
		doc := spec.Doc
		if doc == nil {
			doc = decl.Doc
		}
		d[spec.Name.Name] = withoutName(spec.Name.Name, firstParagraph(doc))
		d.addFields(spec.Name.Name, object)
	}
}

// tagKeys are the tags that a field may have: see package spec.
var tagKeys = regexp.MustCompile(`^(json|required|nullable|enum|type|example):"$`)

// quoted matches the value of a tag, which may contain escaped quotation marks.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func TestTagsAreKnown(t *testing.T) {
	var files []string
	for _, pattern := range sources {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			for _, key := range regexp.MustCompile("[a-zA-Z]+:\"").FindAllString(quoted.ReplaceAllString(field.Tag.Value, `""`), -1) {
				if !tagKeys.MatchString(key) {
					t.Errorf("%s: package spec does not know the tag %s", name, key)
				}
			}
			return true
		})
	}
}

func (d descriptions) addFields(owner string, object *ast.StructType) {
	for _, field := range object.Fields.List {
		for _, name := range field.Names {
			if text := firstParagraph(field.Doc); text != "" {
				d[owner+"."+name.Name] = text
			}
			if inner, ok := structOf(field.Type); ok {
				d.addFields(owner+"."+name.Name, inner)
			}
		}
	}
}

func structOf(e ast.Expr) (*ast.StructType, bool) {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	object, ok := e.(*ast.StructType)
	return object, ok
}

// firstParagraph returns the first paragraph of a comment, which is for users of the API. The
// other paragraphs are for readers of the source.
func firstParagraph(doc *ast.CommentGroup) string {
	first, _, _ := strings.Cut(doc.Text(), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// withoutName makes "A worker." of "Worker is a worker.".
func withoutName(name, text string) string {
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			return string(unicode.ToUpper(rune(rest[0]))) + rest[1:]
		}
	}
	return text
}
