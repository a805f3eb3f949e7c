// Package internal_test holds the one test that is about no package in
// particular: which of them may know which.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// rule is what one package may import of this module.
type rule struct {
	may     []string
	wide    bool     // may import a whole layer, and need not import all of it
	tests   []string // what its tests may import as well
	planned bool     // documented, not written yet; drop it with the first file
}

// domain is the rules without any storage: lastmile has the records, the
// others know no package but it and calendar.
var domain = []string{"analytics", "assignment", "customfield", "identity", "lastmile", "order", "planning", "role", "textmessage", "threshold", "trackingpage", "travel"}

// useCases are the packages api and web call. They meet in the event log and
// do not import one another.
var useCases = []string{
	"account", "addressbook", "audit", "board", "dispatch", "fleet", "messaging", "ordering", "report", "settings", "taskflow", "tracking", "upload", "webhook",
}

// everything is what app wires together: all but the test kits.
var everything = slices.Concat(useCases, domain, []string{
	"access", "accountapi", "adminapi", "api", "auditapi", "blob", "boardapi", "codec", "driverapi", "durable", "edge", "events", "geo", "installation", "mail", "mapdata", "optimize", "orderapi", "osm/town", "rate", "recipientapi", "road", "simulate", "sms", "spec", "store", "store/backup", "store/sqlaccount", "store/sqlaudit", "store/sqlboard", "store/sqlorder", "store/sqlreport", "store/sqlrole", "store/sqlstore", "street", "tile", "tileapi", "web", "wire", "work",
})

// testKits are packages that only tests may import; they count as test code.
var testKits = []string{"store/storetest", "store/engine/enginetest", "app/apptest", "osm/osmtest"}

// testsMay is what the tests of any package may import beyond its own rule.
var testsMay = slices.Concat(testKits, domain, []string{
	"access", "app", "cli", "events", "store/backup", "store/engine/postgres", "store/engine/sqlite", "store/sqlorder", "store/sqlstore", "wire",
})

// rules is the import direction of docs/architecture.md. Names are paths below
// internal, or below the module for what is not in internal.
var rules = map[string]rule{
	"internal": {}, // this test

	"calendar":       {},
	"lastmile":       {},
	"optimize":       {},
	"optimize/bench": {may: []string{"optimize"}}, // a separate program, for make bench-dispatch
	"planning":       {may: []string{"calendar", "lastmile", "optimize"}},

	"analytics":    {may: []string{"lastmile"}},
	"assignment":   {may: []string{"lastmile"}},
	"customfield":  {may: []string{"lastmile"}},
	"identity":     {may: []string{"lastmile"}},
	"order":        {may: []string{"calendar", "lastmile"}, tests: []string{"codec", "orderapi"}},
	"role":         {may: []string{"lastmile"}},
	"textmessage":  {may: []string{"calendar", "lastmile"}},
	"threshold":    {may: []string{"lastmile"}},
	"trackingpage": {may: []string{"calendar", "lastmile"}},
	"travel":       {may: []string{"lastmile"}},

	"wire":   {may: []string{"codec", "lastmile", "analytics", "assignment", "customfield", "planning", "travel"}},
	"work":   {may: []string{"lastmile"}, tests: []string{"store", "textmessage"}},
	"store":  {may: []string{"lastmile"}},
	"rate":   {may: []string{"lastmile"}},
	"events": {may: []string{"lastmile"}},
	"geo":    {may: []string{"lastmile", "rate", "travel", "geo/gazetteer", "road", "street"}, tests: []string{"osm/town"}},
	"mail":   {may: []string{"identity"}},
	"sms":    {may: []string{"lastmile", "textmessage"}},
	"blob":   {may: []string{"lastmile", "store"}},

	"osm":         {tests: []string{"osm/osmtest"}},
	"osm/osmtest": {},
	"osm/town":    {may: []string{"osm"}},
	"road":        {may: []string{"mapdata", "osm"}, tests: []string{"osm/town"}},
	"street":      {may: []string{"mapdata", "osm", "geo/gazetteer"}, tests: []string{"osm/town"}},
	"tile":        {may: []string{"mapdata", "osm"}, tests: []string{"osm/osmtest", "osm/town"}},
	"durable":     {},
	"mapdata":     {may: []string{"durable"}},

	"geo/gazetteer": {may: []string{"lastmile"}},
	"geo/generate":  {may: []string{"geo/gazetteer"}}, // a separate program, for make generate

	"store/engine":            {may: []string{"lastmile"}},
	"store/engine/sqlite":     {may: []string{"durable", "lastmile", "store/engine"}},
	"store/engine/postgres":   {may: []string{"lastmile", "rate", "store/engine"}},
	"store/engine/enginetest": {may: []string{"lastmile", "store/engine"}},
	"store/sqlreport":         {may: []string{"lastmile", "store", "store/engine"}},
	"store/sqlorder":          {may: []string{"lastmile", "order", "store", "store/engine", "wire"}},
	"store/sqlstore": {may: []string{
		"lastmile", "assignment", "customfield", "textmessage", "store", "store/engine", "store/engine/postgres", "store/engine/sqlite", "wire", "work",
	}, tests: []string{"audit", "store/sqlaudit", "store/sqlboard", "store/sqlreport"}}, // whose statements they explain
	"store/sqlaudit":   {may: []string{"audit", "lastmile", "store/engine"}},
	"store/sqlboard":   {may: []string{"board", "lastmile", "store/engine", "wire"}},
	"store/sqlrole":    {may: []string{"lastmile", "role", "store/engine"}},
	"store/sqlaccount": {may: []string{"identity", "lastmile", "store/engine"}},
	"store/backup": {may: []string{
		"durable", "lastmile", "store", "store/engine", "store/engine/postgres", "store/engine/sqlite", "store/sqlstore", "wire",
	}},
	"store/storetest": {may: []string{"lastmile", "assignment", "customfield", "order", "textmessage", "store", "store/engine/enginetest", "store/sqlorder", "store/sqlstore", "work"}},

	"access":       {may: []string{"lastmile", "role", "store", "events", "rate"}},
	"account":      {may: []string{"identity", "lastmile", "store", "rate", "work"}},
	"addressbook":  {may: []string{"lastmile", "store"}},
	"audit":        {may: []string{"lastmile", "rate", "store"}},
	"installation": {may: []string{"identity", "lastmile", "rate", "textmessage", "travel"}},
	"fleet":        {may: []string{"calendar", "lastmile", "analytics", "textmessage", "travel", "store", "events", "work"}},
	"taskflow":     {may: []string{"lastmile", "assignment", "customfield", "trackingpage", "travel", "store", "events", "rate", "work"}},
	"ordering":     {may: []string{"lastmile", "order", "rate", "store", "travel"}},
	"dispatch":     {may: []string{"lastmile", "assignment", "optimize", "planning", "travel", "rate", "store", "events", "work"}},
	"messaging":    {may: []string{"lastmile", "textmessage", "store", "events", "work"}},
	"report":       {may: []string{"calendar", "lastmile", "rate", "store", "travel"}},
	"settings":     {may: []string{"lastmile", "assignment", "textmessage", "travel", "store"}},
	"tracking":     {may: []string{"lastmile", "textmessage", "threshold", "travel", "store", "events", "rate", "work"}},
	"upload":       {may: []string{"lastmile", "store"}},
	"webhook":      {may: []string{"lastmile", "store", "events", "rate", "work"}},
	"board":        {may: []string{"calendar", "lastmile", "store", "events", "rate"}},

	"simulate": {may: []string{"lastmile"}}, // a client: it knows the platform over HTTP alone

	// Tests only. They need app, which imports the package that they test.
	"access/platform":   {tests: []string{"store"}},
	"dispatch/platform": {tests: []string{"dispatch", "store", "work"}},
	"simulate/platform": {tests: []string{"simulate"}},
	"taskflow/platform": {tests: []string{"store", "taskflow", "work"}},

	"codec": {may: []string{"lastmile"}},
	"spec":  {}, // describes types of other packages, by reflection, and knows none
	"edge":  {may: []string{"codec", "lastmile", "rate", "role", "spec"}},

	"api":          {wide: true, may: slices.Concat(useCases, []string{"access", "codec", "customfield", "edge", "lastmile", "wire"})},
	"adminapi":     {wide: true, may: slices.Concat(useCases, []string{"access", "codec", "edge", "lastmile", "textmessage", "wire"})},
	"auditapi":     {may: []string{"audit", "edge", "lastmile", "wire"}},
	"boardapi":     {may: []string{"board", "edge", "lastmile", "tracking", "webhook", "wire"}},
	"orderapi":     {wide: true, may: []string{"codec", "edge", "lastmile", "order", "ordering", "store", "wire"}},
	"driverapi":    {wide: true, may: slices.Concat(useCases, []string{"access", "codec", "edge", "lastmile", "wire"})},
	"recipientapi": {wide: true, may: slices.Concat(domain, []string{"codec", "edge", "messaging", "rate", "taskflow", "upload", "wire"})},

	"accountapi": {wide: true, may: []string{"account", "codec", "edge", "identity", "installation", "lastmile", "wire"}},
	"tileapi":    {may: []string{"edge", "lastmile", "tile"}, tests: []string{"osm/town"}},

	"contract":         {wide: true, may: slices.Concat(everything, []string{"app", "app/apptest", "docs"})}, // tests only
	"contract/openapi": {wide: true, may: slices.Concat(everything, []string{"app"})},                        // tests only

	"abuse": {}, // tests only: they know the platform as a program and over HTTP

	"web": {wide: true, may: slices.Concat(useCases, domain, []string{"access", "calendar", "wire"})},

	"docs":        {}, // the guides
	"app":         {wide: true, may: slices.Concat(everything, []string{"docs"})},
	"app/apptest": {wide: true, may: slices.Concat(everything, []string{"app", "store/storetest"})},
	"cli":         {wide: true, may: slices.Concat(everything, []string{"app"})},
	"cmd/dray":    {may: []string{"cli"}},
}

// reserved names, for imports from outside the module, the only packages that
// may have them. A pattern ending in /... covers the path and all below it.
// Tests and test kits are exempt.
var reserved = map[string][]string{
	"database/sql/...":                        {"store/engine", "store/engine/postgres", "store/engine/sqlite", "store/sqlaccount", "store/sqlaudit", "store/sqlrole", "store/sqlstore"},
	"github.com/jackc/pgx/...":                {"store/engine/postgres"},
	"modernc.org/sqlite/...":                  {"store/engine/sqlite"},
	"modernc.org/libc/...":                    {"store/engine/sqlite"},
	"net/http/...":                            {"accountapi", "api", "app", "blob", "boardapi", "cli", "driverapi", "edge", "geo", "recipientapi", "simulate", "sms", "spec", "tileapi", "web", "webhook"},
	"encoding/json/...":                       {"adminapi", "audit", "boardapi", "cli", "codec", "driverapi", "edge", "geo", "geo/generate", "mapdata", "optimize/bench", "orderapi", "simulate", "sms", "spec", "store/backup", "store/engine", "store/sqlorder", "store/sqlstore", "street", "tile", "web", "webhook", "wire"},
	"os/...":                                  {"app", "blob", "cli", "cmd/dray", "durable", "geo/generate", "mapdata", "optimize/bench", "store/backup", "store/engine/sqlite"},
	"log":                                     {},
	"math/rand":                               {},
	"golang.org/x/time/...":                   {"geo"},
	"golang.org/x/text/...":                   {"geo", "geo/gazetteer", "geo/generate"},
	"golang.org/x/image/...":                  {"upload"},
	"golang.org/x/crypto/argon2":              {"access"},
	"github.com/go-json-experiment/json/...":  {"codec"},
	"github.com/aws/...":                      {"blob"},
	"github.com/nyaruka/phonenumbers/...":     {"sms"},
	"github.com/prometheus/client_golang/...": {"app"},
}

func TestArchitecture(t *testing.T) {
	for _, problem := range inspect(t, os.DirFS(".."), rules) {
		t.Error(problem)
	}
}

func TestArchitectureReservesWhatIsUsed(t *testing.T) {
	found := packages(t, os.DirFS(".."))
	for pattern, owners := range reserved {
		for _, owner := range owners {
			if !importsAny(found[owner], pattern) {
				t.Errorf("%s is reserved to %s, which does not import it", pattern, owner)
			}
		}
	}
}

func TestArchitectureRulesNameKnownPackages(t *testing.T) {
	for name, r := range rules {
		for _, other := range r.may {
			if _, known := rules[other]; !known {
				t.Errorf("the rule of %s names %s, which has no rule", name, other)
			}
		}
	}
	for pattern, owners := range reserved {
		for _, owner := range owners {
			if _, known := rules[owner]; !known {
				t.Errorf("%s is reserved to %s, which has no rule", pattern, owner)
			}
		}
	}
}

func TestArchitectureFaultsAreFound(t *testing.T) {
	rules := map[string]rule{
		"lastmile":            {},
		"store":               {may: []string{"lastmile"}},
		"store/engine/sqlite": {may: []string{"lastmile", "store"}},
		"jobs":                {planned: true},
	}
	sound := map[string]string{
		"go.mod":                                 "module dray",
		"tools/go.mod":                           "module dray/tools",
		"tools/tool.go":                          "package tools",
		"internal/lastmile/doc.go":               "// Package lastmile is.\npackage lastmile",
		"internal/lastmile/task.go":              "package lastmile\nimport \"log/slog\"",
		"internal/lastmile/task_test.go":         "// Package lastmile_test does not count as its comment.\npackage lastmile_test\nimport (\"os\"; \"dray/internal/lastmile\"; \"dray/internal/app\")",
		"internal/lastmile/testdata/a.go":        "package broken\nimport \"log\"",
		"internal/store/doc.go":                  "// Package store is.\npackage store\nimport \"dray/internal/lastmile\"",
		"internal/store/engine/sqlite/sqlite.go": "// Package sqlite is.\npackage sqlite\nimport (\"os\"; _ \"modernc.org/sqlite\"; \"dray/internal/lastmile\"; \"dray/internal/store\")",
		"internal/store/engine/sqlite/a_test.go": "package sqlite\nimport \"dray/internal/store/storetest\"",
		"internal/store/.hidden/anything.go":     "package hidden",
	}

	tests := map[string]struct {
		file, content string
		want          string // part of the one problem reported, "" for none
	}{
		"a sound tree":                              {want: ""},
		"a package without a rule":                  {"pkg/util/util.go", "// Package util is.\npackage util", "pkg/util: no rule"},
		"a package without a comment":               {"internal/lastmile/doc.go", "package lastmile", "lastmile: no package comment"},
		"a rule without a package":                  {"internal/store/doc.go", "", "store: no such package"},
		"a planned package that exists":             {"internal/jobs/jobs.go", "// Package jobs is.\npackage jobs", "jobs: exists but is marked planned"},
		"an import against the direction":           {"internal/lastmile/up.go", "package lastmile\nimport \"dray/internal/store\"", "lastmile: up.go imports store"},
		"a test's import against the direction":     {"internal/lastmile/up_test.go", "package lastmile\nimport \"dray/internal/store\"", "lastmile: up_test.go imports store"},
		"a test kit in the program":                 {"internal/store/kit.go", "package store\nimport \"dray/internal/store/storetest\"", "store: kit.go imports store/storetest"},
		"a permission that is not used":             {"internal/store/doc.go", "// Package store is.\npackage store", "store: does not import lastmile"},
		"a reserved import out of place":            {"internal/store/log.go", "package store\nimport \"log\"", "store: log.go imports log"},
		"a reserved import below a reserved path":   {"internal/store/sig.go", "package store\nimport \"os/signal\"", "store: sig.go imports os/signal"},
		"a driver out of place":                     {"internal/store/pg.go", "package store\nimport \"github.com/jackc/pgx/v5\"", "store: pg.go imports github.com/jackc/pgx/v5"},
		"a path that only begins like a reserved":   {"internal/store/osx.go", "package store\nimport \"osmosis\"", ""},
		"the second version of a forbidden package": {"internal/store/rand.go", "package store\nimport \"math/rand/v2\"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for file, content := range sound {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			if tt.file != "" {
				tree[tt.file] = &fstest.MapFile{Data: []byte(tt.content)}
			}
			if tt.file != "" && tt.content == "" {
				delete(tree, tt.file)
			}
			got := inspect(t, tree, rules)
			switch {
			case tt.want == "" && len(got) != 0:
				t.Errorf("a sound tree is rejected: %q", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("got %q, want one problem with %q", got, tt.want)
			}
		})
	}
}

// inspect returns what is wrong with the packages of a module, in order.
//
// It parses the files itself: the test cache notices files that the test
// reads, not those that a child such as go list reads.
func inspect(t *testing.T, module fs.FS, rules map[string]rule) []string {
	t.Helper()
	var problems []string
	found := packages(t, module)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		r, listed := rules[name]
		switch {
		case !listed:
			problems = append(problems, name+": no rule in internal/architecture_test.go")
			continue
		case r.planned:
			problems = append(problems, name+": exists but is marked planned; remove the mark")
		}
		if !documented(found[name]) {
			problems = append(problems, name+": no package comment")
		}
		for _, f := range found[name] {
			for _, imported := range f.imports {
				if why := violation(name, r, f.test, imported); why != "" {
					problems = append(problems, name+": "+f.name+" imports "+why)
				}
			}
		}
		for _, other := range r.may {
			if !r.wide && !importsAny(found[name], "dray/internal/"+other) {
				problems = append(problems, name+": does not import "+other+", which its rule allows")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if _, exists := found[name]; !exists && !rules[name].planned {
			problems = append(problems, name+": no such package; remove its rule")
		}
	}
	return problems
}

// importsAny reports whether any file of a package, tests apart, imports what a
// pattern covers.
func importsAny(files []file, pattern string) bool {
	return slices.ContainsFunc(files, func(f file) bool {
		return !f.test && slices.ContainsFunc(f.imports, func(imported string) bool { return matches(pattern, imported) })
	})
}

// documented reports whether a package has a comment outside its tests, unless
// it is nothing but tests.
func documented(files []file) bool {
	onlyTests := !slices.ContainsFunc(files, func(f file) bool { return !f.test })
	return slices.ContainsFunc(files, func(f file) bool {
		return f.documented && (onlyTests || !f.test)
	})
}

// violation says why a package may not have an import; "" means it may.
func violation(name string, r rule, test bool, imported string) string {
	if ours, ok := strings.CutPrefix(imported, "dray/"); ok {
		ours = short(ours)
		if slices.Contains(r.may, ours) || test && (ours == name || slices.Contains(testsMay, ours) || slices.Contains(r.tests, ours)) {
			return ""
		}
		return ours + ", which its rule does not allow"
	}
	if test || slices.Contains(testKits, name) {
		return ""
	}
	for pattern, owners := range reserved {
		if matches(pattern, imported) && !slices.Contains(owners, name) {
			return imported + ", which is reserved to [" + strings.Join(owners, " ") + "]"
		}
	}
	return ""
}

// matches reports whether a reserved pattern covers an import path.
func matches(pattern, imported string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	return imported == base || below && strings.HasPrefix(imported, base+"/")
}

// short is the name of a package in the rules.
func short(dir string) string {
	return strings.TrimPrefix(dir, "internal/")
}

// file is what the rules check in a Go file.
type file struct {
	name       string
	imports    []string
	documented bool
	test       bool
}

// packages reads every Go file of a module, by package. Like the go command it
// passes over testdata, nested modules and names that start with a dot or an
// underscore.
func packages(t *testing.T, module fs.FS) map[string][]file {
	t.Helper()
	found := make(map[string][]file)
	err := fs.WalkDir(module, ".", func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == ".":
			return nil
		case entry.IsDir() && ignored(module, p):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		f, err := parse(module, p)
		name := short(path.Dir(p))
		found[name] = append(found[name], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ignored reports whether a folder holds no packages of the module.
func ignored(module fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(module, path.Join(dir, "go.mod"))
	return err == nil
}

func parse(module fs.FS, p string) (file, error) {
	source, err := fs.ReadFile(module, p)
	if err != nil {
		return file{}, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), p, source, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return file{}, err
	}
	f := file{
		name:       path.Base(p),
		documented: syntax.Doc != nil,
		test:       strings.HasSuffix(p, "_test.go"),
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}
