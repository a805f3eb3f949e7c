package internal_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The limits on the structure of the module. Tests and test kits are exempt.
const (
	maxDepth       = 6    // imports from a command down to the domain
	maxFanOut      = 10   // packages of this module that one package imports
	maxFiles       = 30   // of a package
	maxMethods     = 40   // of a type
	maxDomainLines = 5000 // of package lastmile
)

// wiringPackage is the package that puts everything together; its fan-out has no limit.
const wiringPackage = "app"

func TestArchitectureLimits(t *testing.T) {
	for _, problem := range exceededLimits(t, os.DirFS("..")) {
		t.Error(problem)
	}
}

func TestArchitectureLimitsAreEnforced(t *testing.T) {
	source := func(name string, imports ...string) *fstest.MapFile {
		text := "package " + name + "\n"
		for _, other := range imports {
			text += fmt.Sprintf("import _ %q\n", "dray/internal/"+other)
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	methods := func(n int) *fstest.MapFile {
		text := "package store\ntype tx struct{}\n"
		for i := range n {
			text += fmt.Sprintf("func (*tx) M%d() {}\n", i)
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	tests := map[string]struct {
		tree func(fstest.MapFS)
		want string
	}{
		"a small tree": {func(fstest.MapFS) {}, ""},
		"a deep one": {func(tree fstest.MapFS) {
			for i := range 7 {
				tree[fmt.Sprintf("internal/p%d/p.go", i)] = source("p", fmt.Sprintf("p%d", i+1))
			}
			tree["internal/p7/p.go"] = source("p")
		}, "p0 imports 7 levels deep: p0 p1 p2 p3 p4 p5 p6 p7"},
		"a package with many imports": {func(tree fstest.MapFS) {
			var all []string
			for i := range 11 {
				all = append(all, fmt.Sprintf("q%d", i))
			}
			tree["internal/api/api.go"] = source("api", all...)
		}, "api imports 11 packages"},
		"a package with many files": {func(tree fstest.MapFS) {
			for i := range 31 {
				tree[fmt.Sprintf("internal/store/f%d.go", i)] = source("store")
				tree[fmt.Sprintf("internal/store/f%d_test.go", i)] = source("store")
			}
		}, "store has 31 files"},
		"a type with many methods": {func(tree fstest.MapFS) { tree["internal/store/tx.go"] = methods(41) }, "store: tx has 41 methods"},
		"an interface with many methods": {func(tree fstest.MapFS) {
			text := "package store\ntype Reader interface {\n"
			for i := range 40 {
				text += fmt.Sprintf("R%d()\n", i)
			}
			tree["internal/store/reader.go"] = &fstest.MapFile{Data: []byte(text + "}\n")}
			tree["internal/fleet/port.go"] = &fstest.MapFile{Data: []byte("package fleet\nimport \"dray/internal/store\"\ntype Writer interface {\nstore.Reader\nSave()\n}\n")}
		}, "fleet: Writer has 41 methods"},
		"a large domain": {func(tree fstest.MapFS) {
			tree["internal/lastmile/task.go"] = &fstest.MapFile{Data: []byte("package lastmile\n" + strings.Repeat("// A line.\n", 4999))}
		}, "lastmile has 5001 lines"},
		"a dependency set after construction": {func(tree fstest.MapFS) {
			tree["internal/app/app.go"] = &fstest.MapFile{Data: []byte("package app\nfunc wire(a *App) { a.Tasks.Notify = a.Notifier.Notify }\n")}
		}, "app: app.go:2 sets a.Tasks.Notify after construction"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{
				"go.mod":                     {Data: []byte("module dray")},
				"cmd/dray/main.go":           source("main", "app"),
				"internal/app/wire.go":       source("app", "lastmile", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
				"internal/lastmile/event.go": source("lastmile"),
			}
			tt.tree(tree)
			got := exceededLimits(t, tree)
			if tt.want == "" && len(got) != 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
				t.Errorf("got %q, want one problem with %q", got, tt.want)
			}
		})
	}
}

// exceededLimits returns the limits that a module exceeds.
func exceededLimits(t *testing.T, module fs.FS) []string {
	t.Helper()
	var problems []string
	imports, interfaces := map[string][]string{}, map[string]*ast.InterfaceType{}
	for name, files := range packages(t, module) {
		files = slices.DeleteFunc(files, func(f file) bool { return f.test })
		if slices.Contains(testKits, name) || len(files) == 0 {
			continue
		}
		if len(files) > maxFiles {
			problems = append(problems, fmt.Sprintf("%s has %d files; at most %d are allowed", name, len(files), maxFiles))
		}
		imported := map[string]bool{}
		for _, f := range files {
			for _, other := range f.imports {
				if ours, ok := strings.CutPrefix(other, "dray/"); ok {
					imported[short(ours)] = true
				}
			}
		}
		imports[name] = slices.Sorted(maps.Keys(imported))
		if n := len(imported); n > maxFanOut && name != wiringPackage {
			problems = append(problems, fmt.Sprintf("%s imports %d packages; at most %d are allowed: %v", name, n, maxFanOut, imports[name]))
		}
		problems = append(problems, inspectTypes(t, module, name, files, interfaces)...)
	}
	for name, declared := range interfaces {
		if n := len(methodsOf(interfaces, name, declared)); n > maxMethods {
			pkg, typ, _ := strings.Cut(name, ".")
			problems = append(problems, fmt.Sprintf("%s: %s has %d methods; at most %d are allowed", pkg, typ, n, maxMethods))
		}
	}
	for name := range imports {
		// Report a chain that is too long once, at its top.
		if chain := longest(imports, name); len(chain) == maxDepth+2 {
			problems = append(problems, fmt.Sprintf("%s imports %d levels deep: %s; at most %d are allowed", name, len(chain)-1, strings.Join(chain, " "), maxDepth))
		}
	}
	slices.Sort(problems)
	return problems
}

// longest is the longest chain of imports that begins with a package.
func longest(imports map[string][]string, name string) []string {
	var best []string
	for _, other := range imports[name] {
		if chain := longest(imports, other); len(chain) > len(best) {
			best = chain
		}
	}
	return append([]string{name}, best...)
}

// inspectTypes checks the types and the size of a package and collects its
// interfaces.
func inspectTypes(t *testing.T, module fs.FS, name string, files []file, interfaces map[string]*ast.InterfaceType) []string {
	t.Helper()
	var problems []string
	methods, lines, set := map[string]int{}, 0, token.NewFileSet()
	for _, f := range files {
		p := path.Join("internal", name, f.name)
		if strings.HasPrefix(name, "cmd/") || name == "internal" || name == "docs" {
			p = path.Join(name, f.name)
		}
		source, err := fs.ReadFile(module, p)
		if err != nil {
			t.Fatal(err)
		}
		syntax, err := parser.ParseFile(set, p, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(source, []byte("\n"))
		ast.Inspect(syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if receiver := receiverName(n); receiver != "" {
					methods[receiver]++
				}
			case *ast.TypeSpec:
				if declared, ok := n.Type.(*ast.InterfaceType); ok {
					interfaces[path.Base(name)+"."+n.Name.Name] = declared
				}
			case *ast.AssignStmt:
				for _, target := range n.Lhs {
					if field := patched(target); name == wiringPackage && field != "" {
						problems = append(problems, fmt.Sprintf("%s: %s:%d sets %s after construction", name, f.name, set.Position(n.Pos()).Line, field))
					}
				}
			}
			return true
		})
	}
	for receiver, n := range methods {
		if n > maxMethods {
			problems = append(problems, fmt.Sprintf("%s: %s has %d methods; at most %d are allowed", name, receiver, n, maxMethods))
		}
	}
	if name == "lastmile" && lines >= maxDomainLines {
		problems = append(problems, fmt.Sprintf("%s has %d lines; fewer than %d are allowed", name, lines, maxDomainLines))
	}
	return problems
}

// receiverName is the type that a method belongs to, or empty for a function.
func receiverName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if pointer, ok := typ.(*ast.StarExpr); ok {
		typ = pointer.X
	}
	switch generic := typ.(type) {
	case *ast.IndexExpr:
		typ = generic.X
	case *ast.IndexListExpr:
		typ = generic.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// methodsOf is the names of the methods of an interface, those of embedded
// interfaces of this module included. Two of those may have the same method.
func methodsOf(interfaces map[string]*ast.InterfaceType, name string, declared *ast.InterfaceType) map[string]bool {
	methods := map[string]bool{}
	pkg, _, _ := strings.Cut(name, ".")
	for _, field := range declared.Methods.List {
		for _, method := range field.Names {
			methods[method.Name] = true
		}
		var embedded string
		switch typ := field.Type.(type) {
		case *ast.Ident:
			embedded = pkg + "." + typ.Name
		case *ast.SelectorExpr:
			if from, ok := typ.X.(*ast.Ident); ok {
				embedded = from.Name + "." + typ.Sel.Name
			}
		}
		if other := interfaces[embedded]; other != nil && len(field.Names) == 0 {
			maps.Copy(methods, methodsOf(interfaces, embedded, other))
		}
	}
	return methods
}

// patched returns the field of an exported component that an assignment sets, such
// as a.Tasks.Notify, or empty. Unexported components, such as a.server, are exempt.
func patched(target ast.Expr) string {
	field, ok := target.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	component, ok := field.X.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	owner, ok := component.X.(*ast.Ident)
	if !ok || !component.Sel.IsExported() || !field.Sel.IsExported() {
		return ""
	}
	return owner.Name + "." + component.Sel.Name + "." + field.Sel.Name
}
