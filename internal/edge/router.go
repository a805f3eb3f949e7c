package edge

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// router finds the route of a request. Some paths of the API overlap, such as
// tasks/{id}/clone and tasks/batch/{jobId}. http.ServeMux rejects such patterns; here a
// literal segment of the path takes precedence over a parameter.
type router struct {
	words map[string]*router
	any   *router
	ends  map[string]*end // by method
}

// end is the node of the tree at which the path of a route ends.
type end struct {
	names   []string // names of its parameters
	handler http.Handler
}

// add adds a route.
func (n *router) add(method, path string, handler http.Handler) {
	var names []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
			if n.any == nil {
				n.any = &router{}
			}
			n = n.any
			continue
		}
		if n.words == nil {
			n.words = map[string]*router{}
		}
		if n.words[segment] == nil {
			n.words[segment] = &router{}
		}
		n = n.words[segment]
	}
	if n.ends == nil {
		n.ends = map[string]*end{}
	}
	n.ends[method] = &end{names: names, handler: handler}
}

// find returns the handler of a request and sets the request's path parameters.
// If there is none, allowed lists the methods that the path has.
func (n *router) find(r *http.Request, path string) (handler http.Handler, allowed []string) {
	segments, ok := split(path)
	if !ok {
		return nil, nil
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	found, values := n.match(segments, method, nil)
	if found == nil {
		return nil, n.methods(segments)
	}
	for i, name := range found.names {
		r.SetPathValue(name, values[i])
	}
	return found.handler, nil
}

// split returns the segments of an escaped path, unescaped. It rejects a path
// that is not text. Some clients put two slashes after the base.
func split(path string) ([]string, bool) {
	segments := strings.Split(strings.TrimLeft(path, "/"), "/")
	for i, segment := range segments {
		if strings.Contains(segment, "%") {
			var err error
			if segment, err = url.PathUnescape(segment); err != nil {
				return nil, false
			}
		}
		if strings.ContainsRune(segment, 0) || !utf8.ValidString(segment) {
			return nil, false
		}
		segments[i] = segment
	}
	return segments, true
}

func (n *router) match(segments []string, method string, values []string) (*end, []string) {
	if len(segments) == 0 {
		return n.ends[method], values
	}
	if next := n.words[segments[0]]; next != nil {
		if found, all := next.match(segments[1:], method, values); found != nil {
			return found, all
		}
	}
	if n.any != nil && segments[0] != "" {
		return n.any.match(segments[1:], method, append(values, segments[0]))
	}
	return nil, nil
}

// methods lists the methods that some route of the path has.
func (n *router) methods(segments []string) []string {
	var all []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if found, _ := n.match(segments, method, nil); found != nil {
			all = append(all, method)
			if method == http.MethodGet {
				all = append(all, http.MethodHead)
			}
		}
	}
	return slices.Clip(all)
}
