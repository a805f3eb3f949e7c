package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"dray/internal/app"
	"dray/internal/geo"
	"dray/internal/lastmile"
)

// Exit codes of the program.
const (
	exitOK       = 0
	exitFailed   = 1 // it failed; the message gives the reason
	exitUsage    = 2 // the command line is wrong
	exitNotFound = 3 // no such record
	exitDamaged  = 4 // fsck or backup verify found damage
)

// command is one command of the program.
type command struct {
	name     string // as typed: "org create"
	args     string // placeholder of the positional arguments
	summary  string
	examples []string
	endless  bool // runs until it is stopped, and shows no progress
	setup    func(*flag.FlagSet, *app.Config) func(context.Context, *invocation) error
}

// invocation is one run of a command.
type invocation struct {
	Config app.Config
	Args   []string // positional arguments
	out    screen
	errs   screen
	json   bool

	progress *progress
}

// usageError is an error in the command line.
type usageError struct{ text string }

// Error implements error.
func (e *usageError) Error() string { return e.text }

func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// sections lists every command, in the order in which help shows them.
func sections() []section {
	return []section{
		{"Run the platform", []command{serveCommand(), demoCommand(), simulateCommand(), tailCommand(), healthCommand()}},
		{"Organizations, keys and people", []command{
			orgCreateCommand(), orgListCommand(), orgSetCommand(), orgPageCommand(), orgReplanningCommand(), orgConnectCommand(), orgClientsCommand(),
			keyCreateCommand(), keyListCommand(), keyRevokeCommand(), workerInviteCommand(), workerSignOutCommand(),
			adminListCommand(), adminInviteCommand(), adminResetCommand(), adminLinkCommand(),
		}},
		{"Text messages", []command{outboxCommand(), messagesTemplatesCommand(), messagesSetCommand(), messagesReceiveCommand()}},
		{"Webhooks", []command{
			webhookListCommand(), webhookLogCommand(), webhookRedeliverCommand(), webhookTestCommand(), webhookSecretCommand(), webhookReceiverCommand(),
		}},
		{"Maps", []command{mapImportCommand(), mapListCommand(), mapRemoveCommand()}},
		{"Data", []command{backupCommand(), backupVerifyCommand(), restoreCommand(), fsckCommand(), geoImportCommand(), versionCommand()}},
	}
}

// section is a part of the list of commands.
type section struct {
	title    string
	commands []command
}

// commands returns every command.
func commands() []command {
	var all []command
	for _, s := range sections() {
		all = append(all, s.commands...)
	}
	return all
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) == 0 || args[0] == "help" || isHelp(args[0]) {
		if len(args) > 1 {
			return Main(ctx, append(args[1:], "--help"), out, errs)
		}
		help(newScreen(out), sections())
		if len(args) == 0 {
			return exitUsage
		}
		return exitOK
	}
	if args[0] == "--version" || args[0] == "-version" {
		args = append([]string{"version"}, args[1:]...)
	}
	cmd, rest, ok := find(args)
	if ok {
		return cmd.run(ctx, rest, out, errs)
	}
	group := groupOf(args[0])
	if len(args) == 2 && isHelp(args[1]) && len(group) > 0 {
		help(newScreen(out), []section{{"", group}})
		return exitOK
	}
	words := typed(args)
	fmt.Fprintf(errs, "dray: there is no command %q; %s\n", strings.Join(words, " "), instead(words, group))
	return exitUsage
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// typed returns the words of a command that does not exist: at most two, without
// flags.
func typed(args []string) []string {
	n := 1
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		n = 2
	}
	return args[:n]
}

// groupOf returns the commands of several words that begin with a word.
func groupOf(word string) []command {
	return slices.DeleteFunc(commands(), func(cmd command) bool { return !strings.HasPrefix(cmd.name, word+" ") })
}

// instead suggests commands in place of one that does not exist.
func instead(words []string, group []command) string {
	var names []string
	for _, cmd := range commands() {
		names = append(names, cmd.name)
		if first, _, several := strings.Cut(cmd.name, " "); several && !slices.Contains(names, first) {
			names = append(names, first)
		}
	}
	// The words may be swapped, and the second may be an argument.
	for _, text := range []string{strings.Join(words, " "), words[len(words)-1] + " " + words[0], words[0]} {
		if near := nearest(text, names); near != "" && near != words[0] {
			return "did you mean `dray " + near + "`?"
		}
	}
	var all []string
	for _, cmd := range group {
		all = append(all, "`dray "+cmd.name+"`")
	}
	if len(all) == 0 {
		return "`dray help` lists them"
	}
	return "there is " + strings.Join(all, ", ")
}

// nearest returns the name that a text most likely is a misspelling of; empty if
// it is similar to none.
func nearest(text string, names []string) string {
	best, found := max(1, len(text)/3), ""
	for _, name := range names {
		if d := geo.EditDistance(strings.ToLower(text), name); d < best || d == best && found == "" {
			best, found = d, name
		}
	}
	return found
}

// find splits the arguments into the command, the one with the most words, and
// the rest.
func find(args []string) (found command, rest []string, ok bool) {
	for _, cmd := range commands() {
		words := strings.Fields(cmd.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == cmd.name && len(cmd.name) > len(found.name) {
			found, rest, ok = cmd, args[len(words):], true
		}
	}
	return found, rest, ok
}

func (cmd command) run(ctx context.Context, args []string, out, errs io.Writer) int {
	line := &progress{to: newScreen(errs)}
	inv := &invocation{Config: app.DefaultConfig(), out: newScreen(out), errs: newScreen(errs), progress: line}
	inv.out.Writer, inv.errs.Writer = behind{out, line}, behind{errs, line}
	flags := flag.NewFlagSet("dray "+cmd.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&inv.json, "json", false, "write JSON")
	act := cmd.setup(flags, &inv.Config)
	err := parse(flags, args, &inv.Args)
	if errors.Is(err, flag.ErrHelp) {
		cmd.help(flags, inv.out)
		return exitOK
	}
	if err == nil && cmd.args == "" && len(inv.Args) > 0 {
		err = usageErrorf("unexpected %q", inv.Args[0])
	}
	if err == nil {
		err = inv.Config.Check()
	}
	if err != nil {
		fmt.Fprintf(errs, "dray %s: %v\nsee `dray %s --help`\n", cmd.name, err, cmd.name)
		return exitUsage
	}
	if !cmd.endless {
		defer line.watch(cmd.name)()
	}
	return inv.exit(cmd, act(ctx, inv))
}

// exit prints the error and returns its exit code.
func (inv *invocation) exit(cmd command, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(inv.errs, "dray %s: %v\n", cmd.name, err)
	if isUsage(err) {
		fmt.Fprintf(inv.errs, "see `dray %s --help`\n", cmd.name)
		return exitUsage
	}
	switch {
	case lastmile.IsNotFound(err):
		return exitNotFound
	case errors.Is(err, errDamaged), errors.Is(err, errDamagedBackup):
		return exitDamaged
	}
	return exitFailed
}

// isUsage reports whether the error is in the command line.
func isUsage(err error) bool {
	if _, ok := errors.AsType[*usageError](err); ok {
		return true
	}
	rejection, ok := errors.AsType[*lastmile.Error](err)
	return ok && (rejection.Code == lastmile.CodeInvalid || rejection.Code == lastmile.CodeMalformed)
}

// parse reads flags, which may come before, between and after positional
// arguments, and then the environment variables of the flags that are not set.
func parse(flags *flag.FlagSet, args []string, rest *[]string) error {
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return suggestFlag(flags, err)
		}
		if args = flags.Args(); len(args) > 0 {
			*rest = append(*rest, args[0])
			args = args[1:]
		}
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var err error
	flags.VisitAll(func(f *flag.Flag) {
		value, set := os.LookupEnv(variable(f.Name))
		if !set || given[f.Name] || err != nil {
			return
		}
		if e := f.Value.Set(value); e != nil {
			err = fmt.Errorf("%s: %w", variable(f.Name), e)
		}
	})
	return err
}

// suggestFlag adds the flag that was most likely meant to the error about an
// unknown one.
func suggestFlag(flags *flag.FlagSet, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	hint := ""
	if near := nearest(strings.TrimLeft(unknown, "-"), names); near != "" {
		hint = "; did you mean --" + near + "?"
	}
	return usageErrorf("there is no flag --%s%s", strings.TrimLeft(unknown, "-"), hint)
}

// variable returns the environment variable that corresponds to a flag.
func variable(name string) string {
	return "DRAY_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// help describes the program, with a list of commands.
func help(out screen, list []section) {
	fmt.Fprint(out, "dray is a last-mile delivery platform in one program.\n")
	for _, s := range list {
		if s.title == "" {
			s.title = "Commands"
		}
		fmt.Fprintf(out, "\n%s:\n", out.paint(bold, s.title))
		for _, cmd := range s.commands {
			fmt.Fprintf(out, "  dray %-19s %s\n", cmd.name, cmd.summary)
		}
	}
	fmt.Fprint(out, "\n`dray COMMAND --help` describes a command. Every flag can also be set as an environment\nvariable: --public-url as DRAY_PUBLIC_URL.\n")
}

func (cmd command) help(flags *flag.FlagSet, out screen) {
	fmt.Fprintf(out, "%s.\n\nUsage: dray %s [flags]%s\n\n%s:\n", cmd.summary, cmd.name, prefixed(cmd.args), out.paint(bold, "Flags"))
	flags.VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		name := "--" + f.Name
		if placeholder != "" {
			name += " " + strings.ToUpper(placeholder)
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(out, "  %-28s %s\n", name, usage)
	})
	if len(cmd.examples) > 0 {
		fmt.Fprintf(out, "\n%s:\n", out.paint(bold, "Examples"))
		for _, example := range cmd.examples {
			fmt.Fprintf(out, "  %s\n", example)
		}
	}
	fmt.Fprint(out, "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 no such record, 4 damage found.\n")
}

func prefixed(args string) string {
	if args == "" {
		return ""
	}
	return " " + args
}

// print writes a result, as JSON with --json and as text otherwise.
func (inv *invocation) print(result any, text string, args ...any) error {
	if inv.json {
		enc := json.NewEncoder(inv.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(result)
	}
	_, err := fmt.Fprintf(inv.out, text, args...)
	return err
}

// logger logs errors, the only log lines of a command.
func (inv *invocation) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(inv.errs, &slog.HandlerOptions{Level: slog.LevelError}))
}

// with opens the platform for a command that works alongside a server. It
// rejects a folder without a database, which is most likely misspelled.
func (inv *invocation) with(ctx context.Context, do func(*app.App) error) error {
	inv.Config.Existing = true
	return inv.withNew(ctx, do)
}

// withNew is like with, but creates the database if there is none.
func (inv *invocation) withNew(ctx context.Context, do func(*app.App) error) error {
	a, err := app.New(ctx, inv.Config, inv.logger(), app.Clock, false)
	if err != nil {
		return err
	}
	err = do(a)
	_ = a.Hub.Flush(ctx) // the change is saved, and other nodes find it later even if they are not notified
	return errors.Join(err, a.Store.Close())
}

// formatTime formats a time for people.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Format("2006-01-02 15:04:05 UTC")
}

// optionalMillis returns a time for JSON output; null for the zero time.
func optionalMillis(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	ms := at.UnixMilli()
	return &ms
}
