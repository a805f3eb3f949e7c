// Package addressbook keeps destinations and recipients: it finds, creates and
// geocodes them.
//
// Asking a geocoder takes long and may fail, so it happens before the
// transaction, never inside: Locate first, save afterwards.
package addressbook
