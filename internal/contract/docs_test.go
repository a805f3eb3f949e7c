package contract_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image"
	"image/png"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// reader is a person with an organization who runs commands of the documentation. The
// variables of the commands are ids of new records.
type reader struct {
	*apptest.Client
	receiver *apptest.Receiver
	folder   string // in which commands run
	own      map[string]string
	worker   *phone
	number   string // phone number of the worker
}

func newReader(t testing.TB, p *apptest.Platform, receiver *apptest.Receiver) *reader {
	t.Helper()
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands of the documentation need %s", program)
		}
	}
	r := &reader{Client: p.Organization(t, "Reader"), receiver: receiver, folder: t.TempDir(), number: string(apptest.Phone())}
	r.own = map[string]string{"KEY": r.Key, "ORGANIZATION": string(r.Organization.ID)}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	// Errors end a command. No command takes long except streams, which do not end.
	settings := "silent\nfail-with-body\nmax-time = 20\n"
	for name, content := range map[string][]byte{"image.png": picture.Bytes(), ".curlrc": []byte(settings)} {
		if err := os.WriteFile(filepath.Join(r.folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// run runs a command and returns what it printed.
func (r *reader) run(t testing.TB, command string) (out []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir, shell.Env = r.folder, append(os.Environ(), "CURL_HOME="+r.folder)
	for name, value := range r.own {
		shell.Env = append(shell.Env, name+"="+value)
	}
	var printed, problems bytes.Buffer
	shell.Stdout, shell.Stderr = &printed, &problems
	if err = shell.Run(); err != nil {
		err = fmt.Errorf("%w: %s%s", err, problems.Bytes(), printed.Bytes())
	}
	return printed.Bytes(), err
}

// madeBy are the requests that create the record for a variable. $NAME is the id of another
// record.
var madeBy = map[string][2]string{
	"ADMIN":       {"/admins", `{"name":"Grace Hopper","email":"grace@$ORGANIZATION.example.com"}`},
	"DESTINATION": {"/destinations", `{"address":{"city":"New York","country":"US"},"location":[-73.98,40.75]}`},
	"RECIPIENT":   {"/recipients", `{"name":"Mary Seacole","phone":"+12125550142"}`},
	"HUB":         {"/hubs", `{"name":"Depot","address":{"city":"New York","country":"US"},"location":[-73.98,40.75]}`},
	"TEAM":        {"/teams", `{"name":"Readers","workers":[],"managers":[],"hub":"$HUB"}`},
	"TASK":        {"/tasks", `{"destination":{"address":{"city":"New York","country":"US"},"location":[-73.98,40.75]},"recipients":[]}`},
	"ROUTE_PLAN":  {"/routePlans", `{"name":"Round","startTime":4000000000000}`},
	"TEMPLATE":    {"/cfGroups/task", `{"name":"Parcels","contextSaveConditions":[],"fields":[]}`},
	"CLIENT":      {"/clients", `{"name":"Kitchen"}`},
	"SERVICE":     {"/deliveryServices", `{"displayName":"Express","currency":"USD","rates":[{"name":"Base","ratingType":"flat","isBaseRate":true,"amount":4}]}`},
	"API_KEY":     {"/apiKeys", `{"name":"Spare"}`},
}

var shellVariable = regexp.MustCompile(`\$([A-Z][A-Z_]+)`)

// need creates the records for the variables of a text.
func (r *reader) need(t testing.TB, text string) {
	t.Helper()
	for _, found := range shellVariable.FindAllStringSubmatch(text, -1) {
		name := found[1]
		if r.own[name] == "" {
			r.own[name] = r.make(t, name)
		}
	}
}

// make creates the record for a variable and returns its id.
func (r *reader) make(t testing.TB, name string) string {
	t.Helper()
	if request, ok := madeBy[name]; ok {
		r.need(t, request[1])
		return id(t, r.Client, request[0], shellVariable.ReplaceAllStringFunc(request[1], func(v string) string { return r.own[v[1:]] }))
	}
	switch name {
	case "WORKER", "TOKEN":
		r.need(t, "$TEAM")
		worker, phone := hire(t, r.Client, r.own["TEAM"], r.number)
		phone.call(t, "PUT", "/duty", map[string]any{"onDuty": true}).OK(t)
		now := r.Platform.Now()
		at := lastmile.Point{Lon: -73.99, Lat: 40.75}
		place(t, r.Platform.Store.Write, r.Client, worker, lastmile.Whereabouts{OnDuty: true, Location: &at, LocatedAt: now, LastSeen: now})
		r.worker, r.own["WORKER"], r.own["TOKEN"] = phone, worker, phone.token
		return r.own[name]
	case "SHORT_ID":
		r.need(t, "$TASK")
		return fmt.Sprint(r.Must(t, "GET", "/tasks/"+r.own["TASK"], nil)["shortId"])
	case "JOB_ID":
		return fmt.Sprint(r.Must(t, "POST", "/tasks/batch-async", `{"tasks":[`+plainTask+`]}`)["jobId"])
	case "DISPATCH":
		r.need(t, "$WORKER")
		made := fmt.Sprint(r.Must(t, "POST", "/teams/"+r.own["TEAM"]+"/dispatch", `{"dryRun":true}`)["dispatchId"])
		(depot{Client: r.Client}).await(t, made)
		return made
	case "WEBHOOK":
		return hook(t, r.Client, r.receiver, "/docs", 6)
	case "NOTIFICATION":
		r.need(t, "$WEBHOOK")
		r.Must(t, "POST", "/webhooks/"+r.own["WEBHOOK"]+"/test", nil)
		return ids(list(t, r.Client, "/webhooks/"+r.own["WEBHOOK"]+"/notifications"))[0]
	case "INVITATION":
		other := r.Platform.Organization(t, "Courier")
		return id(t, other, "/clients", `{"organization":"`+string(r.Organization.ID)+`","name":"Reader"}`)
	case "UPLOAD", "SIGNATURE", "PHOTO":
		r.need(t, "$TOKEN")
		picture := image.NewGray(image.Rect(0, 0, 8, 8+len(name)))
		var sent bytes.Buffer
		if err := png.Encode(&sent, picture); err != nil {
			t.Fatal(err)
		}
		a := exchange(t, "POST", r.Platform.URL+"/driver/v1/uploads", &sent, "Authorization", "Bearer "+r.own["TOKEN"])
		return fmt.Sprint(a.OK(t).Object(t)["uploadId"])
	case "ORDER": // of a client of the reader
		made := r.Must(t, "POST", "/clients", `{"name":"Kitchen"}`)
		return fmt.Sprint(keyed(r.Platform, made).Must(t, "POST", "/taskOrders", `{`+bothTasks+`}`)["id"])
	}
	t.Fatalf("no record for $%s", name)
	return ""
}

// start makes the reader's task active.
func (r *reader) start(t testing.TB) {
	t.Helper()
	r.need(t, "$TASK $TOKEN")
	r.Must(t, "PUT", "/tasks/"+r.own["TASK"], `{"container":{"type":"WORKER","worker":"`+r.own["WORKER"]+`"}}`)
	r.worker.do(t, "start", r.own["TASK"], "docs-start", nil)
}

// assign gives the reader's task to the worker.
func (r *reader) assign(t testing.TB) {
	t.Helper()
	r.need(t, "$TASK $TOKEN")
	r.Must(t, "PUT", "/tasks/"+r.own["TASK"], `{"container":{"type":"WORKER","worker":"`+r.own["WORKER"]+`"}}`)
}

// before has the preparations that operations of the reference need besides the records in
// their commands, by name of the operation.
var before = map[string]func(t testing.TB, r *reader){
	"findRecipientByName":                     func(t testing.TB, r *reader) { r.need(t, "$RECIPIENT") },
	"findRecipientByPhoneNumber":              func(t testing.TB, r *reader) { r.need(t, "$RECIPIENT") },
	"estimateWhenTeamCouldDoPickupOrDrop-off": func(t testing.TB, r *reader) { r.need(t, "$WORKER") },
	"completeActiveTask":                      func(t testing.TB, r *reader) { r.start(t) },
	"pinTask":                                 func(t testing.TB, r *reader) { r.assign(t) },
	"explainAutomaticAssignment": func(t testing.TB, r *reader) {
		r.need(t, "$WORKER $TASK")
		r.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+r.own["TASK"]+`"]}`)
	},
	"stopPlanning": func(t testing.TB, r *reader) {
		r.own["DISPATCH"] = (&world{Client: r.Client}).dispatch(t, lastmile.DispatchPending)
	},
	"markDispatchAsUndone": func(t testing.TB, r *reader) {
		r.own["DISPATCH"] = (&world{Client: r.Client}).dispatch(t, lastmile.DispatchSucceeded)
	},
	"updateCustomFields":   orderNumber,
	"deleteCustomFields":   orderNumber,
	"createTaskTemplate":   orderNumber,
	"updateTaskTemplate":   orderNumber,
	"requestQuotes":        shop,
	"requestQuotesByQuery": shop,
	"placeOrder":           shop,
	"cloneOrder": func(t testing.TB, r *reader) {
		r.Client = keyed(r.Platform, r.Must(t, "POST", "/clients", `{"name":"Kitchen"}`))
		r.own["KEY"] = r.Key
		r.own["ORDER"] = fmt.Sprint(r.Must(t, "POST", "/taskOrders", `{`+bothTasks+`}`)["id"])
	},
	"endOpt-out": func(t testing.TB, r *reader) {
		stop := textmessage.OptOut{Organization: r.Organization.ID, Phone: "+12125550142", At: r.Platform.Now()}
		if err := r.Platform.Store.Write(t.Context(), func(w *sqlstore.Tx) error { return w.SaveOptOut(t.Context(), stop) }); err != nil {
			t.Fatal(err)
		}
	},
	"signIn": func(t testing.TB, r *reader) {
		r.number = "+12125550142"
		r.need(t, "$TOKEN")
	},
	"claimTaskOfTeam": func(t testing.TB, r *reader) {
		r.need(t, "$TASK $TOKEN")
		r.Must(t, "PUT", "/teams/"+r.own["TEAM"], `{"enableSelfAssignment":true}`)
		r.Must(t, "PUT", "/tasks/"+r.own["TASK"], `{"container":{"type":"TEAM","team":"`+r.own["TEAM"]+`"}}`)
	},
	"startTask":          func(t testing.TB, r *reader) { r.assign(t) },
	"arriveAtTask":       func(t testing.TB, r *reader) { r.start(t) },
	"departFromTask":     func(t testing.TB, r *reader) { r.start(t) },
	"completeOrFailTask": func(t testing.TB, r *reader) { r.start(t) },
}

// orderNumber defines a custom field.
func orderNumber(t testing.TB, r *reader) {
	t.Helper()
	send(t, r.Client, "POST", "/customFields", `{"model":"Task","field":[{"key":"orderNumber","name":"Order","type":"single_line_text_field","contexts":[]}]}`).OK(t)
}

// shop makes the reader the client of a courier that offers a service.
func shop(t testing.TB, r *reader) {
	t.Helper()
	r.need(t, "$SERVICE")
	r.Client = keyed(r.Platform, r.Must(t, "POST", "/clients", `{"name":"Kitchen"}`))
	r.own["KEY"] = r.Key
}

// shownOperation is an operation as the reference shows it.
type shownOperation struct {
	name, method, command string
	stream                bool
}

var (
	article = regexp.MustCompile(`(?s)<article id="([^"]*)".*?</article>`)
	verb    = regexp.MustCompile(`class="verb (\w+)"`)
	shown   = regexp.MustCompile(`(?s)<pre class="shell"[^>]*><code>(.*?)</code>`)
	markup  = regexp.MustCompile(`<[^>]*>`)
)

func plain(text string) string { return html.UnescapeString(markup.ReplaceAllString(text, "")) }

// reference returns the operations on a page of the reference.
func reference(t testing.TB, p *apptest.Platform, path string) (all []shownOperation) {
	t.Helper()
	page := string(p.Get(t, path))
	for _, found := range article.FindAllStringSubmatch(page, -1) {
		op := shownOperation{name: found[1], method: verb.FindStringSubmatch(found[0])[1], stream: strings.Contains(found[0], ">text/event-stream<")}
		op.command = plain(shown.FindStringSubmatch(found[0])[1])
		all = append(all, op)
	}
	return all
}

func TestDocsReferenceRuns(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	p := apptest.New(t, receiver.Reach, quick)
	for path, spec := range map[string]*apptest.Spec{"/docs": p.Spec, "/docs/driver": p.DriverSpec} {
		operations := reference(t, p, path)
		if len(operations) < 20 {
			t.Fatalf("%s has %d operations", path, len(operations))
		}
		for _, op := range operations {
			t.Run(op.name, func(t *testing.T) {
				t.Parallel()
				r := newReader(t, p, receiver)
				if prepare := before[op.name]; prepare != nil {
					prepare(t, r)
				}
				r.need(t, op.command)
				// This host does not exist here.
				command := strings.ReplaceAll(op.command, "https://hooks.example.com", receiver.URL)
				status := filepath.Join(r.folder, "status")
				wait := ""
				if op.stream {
					wait = " --max-time 1"
				}
				out, err := r.run(t, strings.Replace(command, "curl", "curl -w '%{stderr}%{http_code} %{url_effective}'"+wait, 1)+" 2>"+status)
				reported, _ := os.ReadFile(status)
				code, url, _ := strings.Cut(string(reported), " ")
				number, _ := strconv.Atoi(strings.TrimSpace(code))
				if op.stream {
					if number != http.StatusOK || !strings.HasPrefix(string(out), ":") && !strings.HasPrefix(string(out), "id: ") {
						t.Fatalf("the stream began with %d %q", number, out)
					}
					return
				}
				if err != nil || number != http.StatusOK && number != http.StatusNoContent {
					t.Fatalf("%s\n%v: %s", op.command, err, reported)
				}
				url, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(url, p.URL)), "\n")
				spec.Check(t, op.method, url, number, nil, out)
			})
		}
	}
	for _, name := range slices.Collect(maps.Keys(before)) {
		if !slices.ContainsFunc(slices.Concat(reference(t, p, "/docs"), reference(t, p, "/docs/driver")), func(op shownOperation) bool { return op.name == name }) {
			t.Errorf("%s is no operation", name)
		}
	}
}
