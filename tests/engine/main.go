// Command engine is a Redis whose scripts run in gopher-lua, the Lua of Go. Error messages of Upstash show that its
// scripts run in an engine with the limits of gopher-lua: 200 registers for a function, 5,120 values on the stack.
//
//	engine HOST:PORT
//
// It listens on a free port of 127.0.0.1, prints the address, and passes commands on to the Redis at HOST:PORT; EVAL,
// EVALSHA and SCRIPT run here. A script holds a lock, so no other command runs meanwhile. A command on a key that the script does not declare is
// an error, as in a cluster.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

func main() {
	err := fmt.Errorf("usage: engine HOST:PORT")
	if len(os.Args) == 2 {
		err = listen(os.Args[1])
	}
	fmt.Fprintln(os.Stderr, "engine:", err)
	os.Exit(1)
}

// listen returns an error or not at all.

func listen(redis string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("engine listening on", listener.Addr())
	scripts := &scripts{texts: map[string]string{}}
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		server, err := net.Dial("tcp", redis)
		if err != nil {
			client.Close()
			continue
		}
		session := &session{
			scripts: scripts,
			client:  bufio.NewReadWriter(bufio.NewReader(client), bufio.NewWriter(client)),
			server:  &redisConn{bufio.NewReadWriter(bufio.NewReader(server), bufio.NewWriter(server))},
		}
		go func() {
			// The end of a connection ends the other one too.
			session.serve()
			client.Close()
			server.Close()
		}()
	}
}

// A script runs alone: it has the lock for writing, other commands have it for reading.
var exclusive sync.RWMutex

// A session is a connection of a client, with a connection to Redis of its own.
type session struct {
	scripts *scripts
	client  *bufio.ReadWriter
	server  *redisConn
	// Between MULTI and EXEC, when Redis only queues commands.
	queues bool
}

func (s *session) serve() error {
	for {
		command, err := readCommand(s.client.Reader)
		if err != nil {
			return err
		}
		reply, err := s.run(command)
		if err != nil {
			return err
		}
		s.client.Write(reply)
		if s.client.Reader.Buffered() == 0 {
			if err := s.client.Flush(); err != nil {
				return err
			}
		}
	}
}

// run returns the reply to a command as bytes.
func (s *session) run(command []string) ([]byte, error) {
	name := strings.ToUpper(command[0])
	if name == "MULTI" || name == "EXEC" || name == "DISCARD" {
		s.queues = name == "MULTI"
	}
	isScript := strings.HasPrefix(name, "EVAL") || name == "SCRIPT"
	switch {
	case isScript && s.queues:
		return errorReply("ERR scripts in a transaction are not supported"), nil
	case name == "SCRIPT":
		return s.script(command)
	case isScript:
		return s.eval(name, command), nil
	case name == "BLPOP" || name == "XREAD" || name == "WAIT":
		// They may wait for a command of another client.
		return s.server.forward(command)
	default:
		exclusive.RLock()
		defer exclusive.RUnlock()
		return s.server.forward(command)
	}
}
