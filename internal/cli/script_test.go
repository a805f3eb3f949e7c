package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dray/internal/cli"
	"dray/internal/store/engine/enginetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain runs the tests, or dray when a script executes it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dray": func() {
		// Like main of cmd/dray.
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}})
}

// TestScript runs the scripts in testdata/script on each database. Besides the
// commands of testscript they have:
//
//	exits CODE PROGRAM ARG…       run a program that must exit with the code
//	curl STATUS METHOD PATH BODY  call the server with the key in $KEY, once it is
//	                              up, and expect the status
//	until PATH PATTERN            GET a path with the key in $KEY until the response
//	                              matches
//	save NAME PATH                set a variable to a value of the JSON that was
//	                              printed last: "organization.id", "0.id"
//	signal NAME                   send a signal to the background processes
//	await FILE                    wait until a file exists
//	prints PATTERN PROGRAM ARG…   run a program repeatedly until its output matches
//	quiet                         fail if the last program wrote to standard error
//	                              anything but that it takes longer
//	flip FILE POSITION            change a byte of a file: at an offset, or in the
//	                              middle of the only occurrence of a text
//
// $LISTEN and $RECEIVER are free addresses. DRAY_DATA or DRAY_DATABASE is an empty
// database, and $FRESH the flag for another one.
func TestScript(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range scripts {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run("sqlite/"+name, func(t *testing.T) {
			t.Parallel()
			runScript(t, file, "sqlite", func(work string) []string {
				return []string{"DRAY_DATA=" + filepath.Join(work, "data"), "FRESH=--data=" + filepath.Join(work, "fresh")}
			})
		})
		t.Run("postgres/"+name, func(t *testing.T) {
			t.Parallel()
			variables := []string{"DRAY_DATABASE=" + enginetest.Postgres(t)}
			if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte("$FRESH")) {
				variables = append(variables, "FRESH=--database="+enginetest.Postgres(t))
			}
			runScript(t, file, "postgres", func(string) []string { return variables })
		})
	}
}

// runScript runs one script on one database.
func runScript(t *testing.T, file, engine string, variables func(work string) []string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			address, err := freeAddress()
			receiver, err2 := freeAddress()
			env.Vars = append(env.Vars, "LISTEN="+address, "DRAY_LISTEN="+address, "DRAY_ADMIN_LISTEN=", "RECEIVER="+receiver, "KEY=")
			env.Vars = append(env.Vars, variables(env.WorkDir)...)
			return errors.Join(err, err2)
		},
		Condition: func(word string) (bool, error) {
			if word == "sqlite" || word == "postgres" {
				return word == engine, nil
			}
			return false, fmt.Errorf("unknown condition %q", word)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "curl": curl, "until": until, "save": save, "signal": send, "await": await, "flip": flip, "prints": prints, "quiet": quiet,
		},
	})
}

// ports is the last port that a script got. The ports are below the system's
// ephemeral range, so that no other process gets one before its script uses it.
var ports atomic.Uint32

func init() { ports.Store(10_000 + rand.Uint32N(10_000)) }

// freeAddress returns an address that is not in use and that no other script gets.
func freeAddress() (string, error) {
	for range 1000 {
		listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", ports.Add(1)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port is free")
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func curl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: curl STATUS METHOD PATH [BODY]")
	}
	status, reply := fetch(ts, args[1], args[2], strings.Join(args[3:], ""))
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("%s %s returned %d: %s", args[1], args[2], status, reply)
	}
	_, err := ts.Stdout().Write(reply)
	ts.Check(err)
}

// fetch calls the server and waits until it is up.
func fetch(ts *testscript.TestScript, method, path, body string) (status int, reply []byte) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequest(method, "http://"+ts.Getenv("LISTEN")+path, strings.NewReader(body))
		ts.Check(err)
		request.SetBasicAuth(ts.Getenv("KEY"), "")
		response, err := http.DefaultClient.Do(request)
		if errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(deadline) {
			continue
		}
		ts.Check(err)
		reply, err := io.ReadAll(response.Body)
		ts.Check(errors.Join(err, response.Body.Close()))
		return response.StatusCode, reply
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: until PATH PATTERN")
	}
	pattern := regexp.MustCompile(args[1])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, reply := fetch(ts, http.MethodGet, args[0], "")
		if pattern.Match(reply) {
			_, err := ts.Stdout().Write(reply)
			ts.Check(err)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("after a minute %s still returns %s", args[0], reply)
		}
	}
}

func save(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: save NAME PATH")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for step := range strings.SplitSeq(args[1], ".") {
		switch in := value.(type) {
		case map[string]any:
			value = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			ts.Check(err)
			if i >= len(in) {
				ts.Fatalf("%s: the array has only %d items", args[1], len(in))
			}
			value = in[i]
		default:
			value = nil
		}
		if value == nil {
			ts.Fatalf("there is no %s in %s", args[1], ts.ReadFile("stdout"))
		}
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

// longer is a line of progress, which a slow machine may cause anywhere.
var longer = regexp.MustCompile(`(?m)^dray [a-z ]+: [0-9hms]+(,.*)?\n`)

func quiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: quiet")
	}
	if text := longer.ReplaceAllString(ts.ReadFile("stderr"), ""); text != "" {
		ts.Fatalf("wrote to standard error: %s", text)
	}
}

func send(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill}
	if neg || len(args) != 1 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal TERM|INT|KILL")
	}
	for _, running := range ts.BackgroundCmds() {
		ts.Check(running.Process.Signal(signals[args[0]]))
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil || time.Now().After(deadline) {
			ts.Check(err)
			return
		}
	}
}

func prints(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: prints PATTERN PROGRAM ARG…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no output matched %q", args[0])
		}
	}
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE POSITION")
	}
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	if err != nil {
		if n := bytes.Count(data, []byte(args[1])); n != 1 {
			ts.Fatalf("%s contains %q %d times", args[0], args[1], n)
		}
		at = bytes.Index(data, []byte(args[1])) + len(args[1])/2
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(file, data, 0o600))
}

func TestHelpOfEveryCommand(t *testing.T) {
	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		return cli.Main(t.Context(), args, &out, &errs), out.String(), errs.String()
	}
	code, listing, _ := run("help")
	names := regexp.MustCompile(`(?m)^  dray ([a-z]+(?: [a-z]+)?)  +\S`).FindAllStringSubmatch(listing, -1)
	if code != 0 || len(names) < 10 {
		t.Fatalf("dray help exited with %d and lists %d commands:\n%s", code, len(names), listing)
	}
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name[1], func(t *testing.T) {
			code, help, errs := run(append(strings.Fields(name[1]), "--help")...)
			if code != 0 || errs != "" {
				t.Fatalf("--help exited with %d: %s", code, errs)
			}
			for _, part := range []string{"Usage: dray " + name[1], "--json", "Examples:\n  ", "dray " + name[1], "Exit codes:"} {
				if !strings.Contains(help, part) {
					t.Errorf("the help does not contain %q:\n%s", part, help)
				}
			}
			if !regexp.MustCompile("`(dray )?" + name[1] + "[` ]").Match(manual) {
				t.Error("docs/operations.md does not mention the command")
			}
			if name[1] == "serve" {
				for _, flag := range regexp.MustCompile(`(?m)^  (--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
					if !bytes.Contains(manual, []byte("| `"+flag[1]+"` |")) {
						t.Errorf("docs/operations.md does not have %s", flag[1])
					}
				}
			}
			if code, out, _ := run(append(strings.Fields(name[1]), "-h")...); code != 0 || out != help {
				t.Errorf("-h exited with %d and prints something else than --help", code)
			}
			code, out, errs := run(append(strings.Fields(name[1]), "--no-such-flag")...)
			if code != 2 || out != "" || !strings.Contains(errs, "no-such-flag") || !strings.Contains(errs, "dray "+name[1]+" --help") {
				t.Errorf("an unknown flag: exit code %d: %s%s", code, out, errs)
			}
		})
	}
}
