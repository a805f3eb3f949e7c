// Lint copies the source of golangci-lint without the linters that .golangci.yml does not
// enable, which would take most of the time to compile:
//
//	lint CONFIG MODULE COPY
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: lint CONFIG MODULE COPY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
}

func run(config, module, dir string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	var c struct{ Linters, Formatters struct{ Enable []string } }
	if err := yaml.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(module)); err != nil {
		return err
	}
	name := filepath.Join(dir, "pkg/lint/lintersdb/builder_linter.go")
	text, err = shorten(name, slices.Concat(c.Linters.Enable, c.Formatters.Enable))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, text, 0o666)
}

// shorten returns the Go source of a list of linters with the enabled ones only, and an
// error if it lacks one of them.
func shorten(name string, enabled []string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var kept []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			n.Elts = slices.DeleteFunc(n.Elts, func(element ast.Expr) bool {
				linter := linterOf(element)
				if slices.Contains(enabled, linter) {
					kept = append(kept, linter)
				}
				return linter != "" && !slices.Contains(enabled, linter)
			})
		case *ast.FuncDecl: // variables that only disabled linters use
			for i, statement := range slices.Backward(n.Body.List) {
				if s, ok := statement.(*ast.AssignStmt); ok && s.Tok == token.DEFINE {
					use := &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: s.Lhs}
					n.Body.List = slices.Insert(n.Body.List, i+1, ast.Stmt(use))
				}
			}
		}
		return true
	})
	slices.Sort(enabled)
	slices.Sort(kept)
	if !slices.Equal(kept, enabled) {
		return nil, fmt.Errorf("enabled are %q, but the list has %q of them", enabled, kept)
	}

	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	imports := file.Decls[0].(*ast.GenDecl)
	imports.Specs = slices.DeleteFunc(imports.Specs, func(spec ast.Spec) bool {
		return !used[path.Base(strings.Trim(spec.(*ast.ImportSpec).Path.Value, `"`))]
	})
	var text bytes.Buffer
	err = format.Node(&text, files, file)
	return text.Bytes(), err
}

// linterOf returns the package in linter.NewConfig(package.New(…)).WithX(…).WithY(…), or "".
func linterOf(element ast.Expr) string {
	for {
		call, ok := element.(*ast.CallExpr)
		if !ok {
			return ""
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if selector.Sel.Name == "NewConfig" {
			element = call.Args[0]
			continue
		}
		if x, ok := selector.X.(*ast.Ident); ok {
			return x.Name
		}
		element = selector.X
	}
}
