package app_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
)

// TestLimitsDocument compares docs/limits.md with the flags and constants that set
// the limits.
func TestLimitsDocument(t *testing.T) {
	document, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	config := app.DefaultConfig()
	config.BindServer(flags)
	source := &constants{packages: map[string]map[string]ast.Expr{}}
	rows := 0
	for line := range strings.Lines(string(document)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Limit |") {
			continue
		}
		rows++
		if len(cells) != 4 {
			t.Errorf("%q has %d columns, not 4", line, len(cells))
			continue
		}
		limit, stated, setBy := strings.TrimSpace(cells[0]), strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%s: what a caller sees is missing", limit)
		}
		if name, ok := strings.CutPrefix(setBy, "--"); ok {
			f := flags.Lookup(name)
			if f == nil {
				t.Errorf("%s: dray serve has no flag --%s", limit, name)
			} else if !sameDefault(stated, f.DefValue) {
				t.Errorf("%s: the default of --%s is %s, not %s", limit, name, f.DefValue, stated)
			}
			continue
		}
		value, err := source.value(setBy)
		if err != nil {
			t.Errorf("%s: %v", limit, err)
		} else if want, err := quantity(stated); err != nil || want != value {
			t.Errorf("%s: %s is %d, not %s (%d, %v)", limit, setBy, value, stated, want, err)
		}
	}
	if rows < 20 {
		t.Errorf("docs/limits.md has %d limits", rows)
	}
}

// sameDefault reports whether docs/limits.md states the default value of a flag.
func sameDefault(stated, value string) bool {
	if stated == value || (stated == "no limit" && (value == "0" || value == "")) {
		return true
	}
	want, err := quantity(stated)
	if err != nil {
		return false
	}
	if d, err := time.ParseDuration(value); err == nil {
		return want == int64(d)
	}
	number, err := strconv.ParseFloat(value, 64)
	return err == nil && float64(want) == number
}

var quantityPattern = regexp.MustCompile(`^([0-9][0-9,]*)(?: ?([a-zA-Z]+))?$`)

// quantity returns the number that a text like "10,000", "4 KiB" or "15 s" means:
// bytes for sizes, nanoseconds for durations.
func quantity(text string) (int64, error) {
	parts := quantityPattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is not a quantity", text)
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(parts[1], ",", ""), 10, 64)
	if err != nil {
		return 0, err
	}
	units := map[string]int64{
		"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
		"ms": int64(time.Millisecond), "s": int64(time.Second), "min": int64(time.Minute),
		"h": int64(time.Hour), "d": 24 * int64(time.Hour),
	}
	unit, ok := units[parts[2]]
	if !ok {
		return 0, fmt.Errorf("%q: unknown unit", text)
	}
	return n * unit, nil
}

// constants evaluates constants from the source, because most are not exported.
type constants struct {
	packages map[string]map[string]ast.Expr // package → constant → value
}

// value returns the value of a constant named as "package.constant".
func (c *constants) value(name string) (int64, error) {
	in, constantName, ok := strings.Cut(name, ".")
	if !ok {
		return 0, fmt.Errorf("%q is neither a flag nor package.constant", name)
	}
	result, err := c.named(in, constantName)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	n, exact := constant.Int64Val(constant.ToInt(result))
	if !exact {
		return 0, fmt.Errorf("%s is not a whole number: %v", name, result)
	}
	return n, nil
}

func (c *constants) named(in, name string) (constant.Value, error) {
	if c.packages[in] == nil {
		declared, err := declaredConstants(in)
		if err != nil {
			return nil, err
		}
		c.packages[in] = declared
	}
	expression := c.packages[in][name]
	if expression == nil {
		return nil, fmt.Errorf("no constant %s in %s", name, in)
	}
	return c.evaluate(in, expression)
}

func (c *constants) evaluate(in string, e ast.Expr) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
	case *ast.ParenExpr:
		return c.evaluate(in, e.X)
	case *ast.Ident:
		return c.named(in, e.Name)
	case *ast.SelectorExpr:
		units := map[string]time.Duration{
			"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
		}
		of, _ := e.X.(*ast.Ident)
		if of != nil && of.Name == "time" && units[e.Sel.Name] != 0 {
			return constant.MakeInt64(int64(units[e.Sel.Name])), nil
		}
		if of != nil {
			return c.named(of.Name, e.Sel.Name)
		}
	case *ast.BinaryExpr:
		x, err := c.evaluate(in, e.X)
		if err != nil {
			return nil, err
		}
		y, err := c.evaluate(in, e.Y)
		if err != nil {
			return nil, err
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(constant.ToInt(x), e.Op, uint(n)), nil
		}
		return constant.BinaryOp(x, e.Op, y), nil
	}
	return nil, fmt.Errorf("an expression of type %T is not supported", e)
}

// declaredConstants returns the constants of a package with their expressions.
func declaredConstants(name string) (map[string]ast.Expr, error) {
	var files []string
	for _, depth := range []string{"", "*", "*/*"} {
		found, err := filepath.Glob(filepath.Join("..", depth, name, "*.go"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no package %s", name)
	}
	declared := map[string]ast.Expr{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				for i, ident := range spec.Names {
					if i < len(spec.Values) {
						declared[ident.Name] = spec.Values[i]
					}
				}
			}
		}
	}
	return declared, nil
}
