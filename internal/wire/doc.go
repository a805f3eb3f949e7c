// Package wire is the interface's JSON: the shapes of what is sent and
// received, its units and its rules for null, and their translation to and
// from the domain.
//
// It holds no rule of the business: those are in package lastmile. It knows no
// HTTP and no database.
//
// The one thing to know: requests are read by Decode and by nothing else, and
// answers are written with encoding/json. Decode refuses what encoding/json
// would silently accept, and says where in the body the fault is.
package wire
