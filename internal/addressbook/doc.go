// Package addressbook finds, creates and geocodes destinations, and finds and
// creates recipients.
//
// Geocoding is slow and may fail, so it always happens before a transaction:
// Locate first, then save.
package addressbook
