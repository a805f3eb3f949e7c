// Package auditapi serves the audit log, a resource of the public API.
package auditapi
