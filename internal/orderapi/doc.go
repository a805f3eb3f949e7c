// Package orderapi is the part of the public API that couriers and their clients use:
// routes and handlers, by resource. Package api mounts them.
package orderapi
