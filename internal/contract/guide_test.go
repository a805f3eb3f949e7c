package contract_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/docs"
	"dray/internal/app/apptest"
	"dray/internal/webhook"
)

// example is a block of a guide.
type example struct {
	language, text string
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)[^\n]*\n(.*?)^```$")

func examples(t testing.TB, file string) (all []example) {
	t.Helper()
	page, err := docs.Guides.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range fence.FindAllStringSubmatch(string(page), -1) {
		all = append(all, example{found[1], found[2]})
	}
	return all
}

// TestDocsGuidesRun runs the commands of each guide in order, in one shell, and compares
// what they print with what the guide shows.
func TestDocsGuidesRun(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	p := apptest.New(t, receiver.Reach)
	p.RunWebhooks(t)
	importTown(t, p)
	for _, file := range docs.Order {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, p, receiver)
			if file == "moving.md" {
				r.other(t)
			}
			blocks := examples(t, file)
			script := "set -e\n"
			for i, block := range blocks {
				if block.language == "sh" {
					// In the same shell, so that later commands have the variables.
					script += fmt.Sprintf("{\n%s\n} >out.%d\n", block.text, i)
				}
			}
			if script == "set -e\n" {
				t.Fatal("the guide has no commands")
			}
			script = strings.NewReplacer("http://localhost:8080", p.URL, "https://old.example.com", p.URL, "https://hooks.example.com", receiver.URL).Replace(script)
			if out, err := r.run(t, script); err != nil && !isTimeout(err) {
				t.Fatalf("%v: %s", err, out)
			}
			for i := 1; i < len(blocks); i++ {
				if blocks[i].language != "json" || blocks[i-1].language != "sh" {
					continue
				}
				out, err := os.ReadFile(filepath.Join(r.folder, fmt.Sprintf("out.%d", i-1)))
				if err != nil {
					t.Fatal(err)
				}
				for _, fault := range unlike(t, blocks[i].text, strings.ReplaceAll(string(out), receiver.URL, "https://hooks.example.com")) {
					t.Errorf("%s\nprints %s\n%s", blocks[i-1].text, out, fault)
				}
			}
		})
	}
}

// isTimeout reports whether curl ended a stream, which is the last command of a guide.
func isTimeout(err error) bool { return strings.HasPrefix(err.Error(), "exit status 28") }

// other creates the organization of the other provider, which is another one on this
// server.
func (r *reader) other(t testing.TB) {
	t.Helper()
	old := newReader(t, r.Platform, r.receiver)
	r.own["OLD_KEY"] = old.Key
	old.need(t, "$TEAM $WEBHOOK")
	id(t, old.Client, "/workers", `{"name":"Ada Lovelace","phone":"`+r.number+`","teams":["`+old.own["TEAM"]+`"],"vehicle":{"type":"CAR"}}`)
	id(t, old.Client, "/tasks", `{"destination":{"address":{"number":"1","street":"Main","city":"New York","country":"US"},"location":[-73.98,40.75]},
		"recipients":[{"name":"Mary Seacole","phone":"+12125550142"}],"notes":"Ring.","completeBefore":4000000000000,"metadata":[{"name":"order","type":"string","value":"7"}]}`)
}

// unlike returns how printed JSON differs from the JSON in a guide. IDs may differ, and a
// guide can leave out fields of objects.
func unlike(t testing.TB, shown, printed string) (faults []string) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(shown), &want); err != nil {
		t.Fatalf("the guide shows %s: %v", shown, err)
	}
	if err := json.Unmarshal([]byte(printed), &got); err != nil {
		return []string{err.Error()}
	}
	return differences("", want, got)
}

var shownID = regexp.MustCompile(`^[\w*~]{24}$`)

func differences(at string, want, got any) (faults []string) {
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for key, value := range want {
			if _, ok := object[key]; !ok {
				faults = append(faults, at+"."+key+" is missing")
				continue
			}
			faults = append(faults, differences(at+"."+key, value, object[key])...)
		}
		return faults
	case []any:
		array, _ := got.([]any)
		if len(array) != len(want) {
			return []string{fmt.Sprintf("%s has %d entries, not %d", at, len(array), len(want))}
		}
		for i := range want {
			faults = append(faults, differences(fmt.Sprint(at, "[", i, "]"), want[i], array[i])...)
		}
		return faults
	case string:
		if text, ok := got.(string); ok && shownID.MatchString(want) && shownID.MatchString(text) {
			return nil
		}
	}
	if want != got {
		return []string{fmt.Sprintf("%s is %v, not %v", at, got, want)}
	}
	return nil
}

// verifiers describe how the test calls the function in each language: the command, the
// name of the file and the code that is added. The program prints true or false.
var verifiers = map[string]struct {
	run       []string
	file      string
	call      string
	rename    [2]string
	mustExist bool
}{
	"go": {
		run: []string{"go", "run", "verify.go"}, file: "verify.go", mustExist: true, rename: [2]string{"package receiver\n\nimport (", "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n"},
		call: `
func main() {
	header := http.Header{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		header.Set(name, os.Getenv(name))
	}
	fmt.Println(Verify(os.Getenv("secret"), header, []byte(os.Getenv("body"))))
}`,
	},
	"js": {
		run: []string{"node", "verify.mjs"}, file: "verify.mjs", mustExist: true,
		call: "\nconsole.log(verify(process.env.secret, process.env, Buffer.from(process.env.body)));\n",
	},
	"python": {
		run: []string{"python3", "verify.py"}, file: "verify.py",
		call: "\nimport os\nprint(str(verify(os.environ['secret'], os.environ, os.environ['body'].encode())).lower())\n",
	},
	"php": {
		run: []string{"php", "verify.php"}, file: "verify.php",
		call: "\necho json_encode(verify(getenv('secret'), getenv(), getenv('body')));\n",
	},
}

func TestDocsSignatureExamples(t *testing.T) {
	t.Parallel()
	secret, body, notification := []byte("secret of sixty-four bytes"), `{"taskId":"K2dF8gHj5LzX9cVb7NmQ4wRt","name":"Zoë"}`, "n1"
	sign := func(key []byte, timestamp string) string {
		return webhook.StandardSignature(key, notification, timestamp, []byte(body))
	}
	type request struct {
		name, timestamp, signature, body string
		want                             bool
	}
	// Times are set when a subtest runs, because it may wait long for its turn.
	requests := func() []request {
		now := strconv.FormatInt(time.Now().Unix(), 10)
		old := strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)
		return []request{
			{"a request of the server", now, sign(secret, now), body, true},
			{"while the secret is replaced", now, sign([]byte("new"), now) + " " + sign(secret, now), body, true},
			{"of someone else", now, sign([]byte("other"), now), body, false},
			{"changed on its way", now, sign(secret, now), strings.Replace(body, "K", "L", 1), false},
			{"with another time", now, sign(secret, old), body, false},
			{"sent again later", old, sign(secret, old), body, false},
			{"without a time", "", sign(secret, ""), body, false},
			{"without a signature", now, "", body, false},
		}
	}
	seen := 0
	for _, block := range examples(t, "webhooks.md") {
		v, ok := verifiers[block.language]
		if !ok {
			continue
		}
		seen++
		t.Run(block.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(v.run[0]); err != nil {
				if v.mustExist {
					t.Fatalf("%s is not installed", v.run[0])
				}
				t.Skipf("%s is not installed", v.run[0])
			}
			folder := t.TempDir()
			source := block.text + v.call
			if v.rename[0] != "" {
				source = strings.Replace(source, v.rename[0], v.rename[1], 1)
			}
			if err := os.WriteFile(filepath.Join(folder, v.file), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, tt := range requests() {
				program := exec.CommandContext(t.Context(), v.run[0], v.run[1:]...) // of the table above
				program.Dir = folder
				program.Env = append(os.Environ(), fmt.Sprintf("secret=%x", secret), "body="+tt.body,
					"webhook-id="+notification, "webhook-timestamp="+tt.timestamp, "webhook-signature="+tt.signature)
				out, err := program.CombinedOutput()
				if got := strings.TrimSpace(string(out)); err != nil || got != strconv.FormatBool(tt.want) {
					t.Errorf("%s: %s, %v", tt.name, got, err)
				}
			}
		})
	}
	if seen != len(verifiers) {
		t.Errorf("the guide has %d of %d languages", seen, len(verifiers))
	}
}

// TestDocsFirstStepsRun runs the other commands of the reference.
func TestDocsFirstStepsRun(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	page, _, _ := strings.Cut(string(p.Get(t, "/docs")), `class="resource"`)
	r := newReader(t, p, nil)
	commands := shown.FindAllStringSubmatch(page, -1)
	if len(commands) < 3 {
		t.Fatalf("there are %d commands", len(commands))
	}
	for _, command := range commands {
		if out, err := r.run(t, "set -e\n"+strings.ReplaceAll(plain(command[1]), "export KEY=…", "")+"\n[ -z \"$TEAM$WORKER\" ] || [ ${#WORKER} = 24 ]"); err != nil {
			t.Errorf("%s\n%v: %s", plain(command[1]), err, out)
		}
	}
	if teams := list(t, r.Client, "/teams"); len(teams) != 2 {
		t.Errorf("there are %d teams", len(teams))
	}
}
