package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dray/internal/cli"
)

// deployments are the files that run the program on servers.
var deployments = []string{"Dockerfile", "compose.yaml", "compose.postgres.yaml", "deploy/dray.service"}

func readRoot(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDeploymentsSetVariablesOfTheServer(t *testing.T) {
	var help bytes.Buffer
	cli.Main(t.Context(), []string{"serve", "--help"}, &help, &help)
	known := map[string]bool{"DRAY_DB_PASSWORD": true} // of compose.postgres.yaml itself
	for _, flag := range regexp.MustCompile(`(?m)^  --([a-z-]+)`).FindAllStringSubmatch(help.String(), -1) {
		known["DRAY_"+strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))] = true
	}
	for _, file := range deployments {
		for _, name := range regexp.MustCompile(`DRAY_[A-Z_]+`).FindAllString(readRoot(t, file), -1) {
			if !known[name] {
				t.Errorf("%s: the server does not read %s", file, name)
			}
		}
	}
}

func TestImageIsBuiltWithTheGoVersionOfTheModule(t *testing.T) {
	module := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readRoot(t, "go.mod"))
	image := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+)`).FindStringSubmatch(readRoot(t, "Dockerfile"))
	if module == nil || image == nil || module[1] != image[1] {
		t.Errorf("go.mod has %q and the Dockerfile %q", module, image)
	}
}

// A package in a folder that the Dockerfile does not copy makes only the build of the image
// fail.
func TestImageIsBuiltFromAllPackagesOfTheProgram(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}", "dray/cmd/dray")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dockerfile, ignore := readRoot(t, "Dockerfile"), strings.Split(readRoot(t, ".dockerignore"), "\n")
	for path := range strings.FieldsSeq(string(out)) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(path, "dray/"), "/")
		if !strings.Contains(dockerfile, "\nCOPY "+folder+" "+folder+"\n") {
			t.Errorf("the Dockerfile does not copy %s, which %s needs", folder, path)
		}
		if !slices.Contains(ignore, "!"+folder) {
			t.Errorf(".dockerignore leaves out %s, which %s needs", folder, path)
		}
	}
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.ReplaceAll(readRoot(t, "deploy/dray.service"), "/usr/local/bin/dray", program)
	file := filepath.Join(t.TempDir(), "dray.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), tool, "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
