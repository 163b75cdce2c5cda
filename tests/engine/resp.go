package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A redisConn is a connection to Redis in RESP2.
type redisConn struct{ stream *bufio.ReadWriter }

func (c *redisConn) send(command []string) error {
	fmt.Fprintf(c.stream, "*%d\r\n", len(command))
	for _, argument := range command {
		fmt.Fprintf(c.stream, "$%d\r\n%s\r\n", len(argument), argument)
	}
	return c.stream.Flush()
}

// forward sends a command and returns its reply as bytes.
func (c *redisConn) forward(command []string) ([]byte, error) {
	if err := c.send(command); err != nil {
		return nil, err
	}
	var reply bytes.Buffer
	err := copyReply(&reply, c.stream.Reader)
	return reply.Bytes(), err
}

// readLine reads a line with its end, and returns it with the number after its first byte.
func readLine(reader *bufio.Reader) ([]byte, int, error) {
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return nil, 0, err
	}
	if len(line) < 3 {
		return nil, 0, fmt.Errorf("unexpected line %q", line)
	}
	number, _ := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	return line, number, nil
}

// readBulk reads the bytes of a string, and the line end after them.
func readBulk(reader *bufio.Reader, length int) (string, error) {
	text := make([]byte, length+2)
	_, err := io.ReadFull(reader, text)
	return string(text[:length]), err
}

func copyReply(reply *bytes.Buffer, reader *bufio.Reader) error {
	line, number, err := readLine(reader)
	if err != nil {
		return err
	}
	reply.Write(line)
	switch line[0] {
	case '$':
		if number >= 0 {
			_, err = io.CopyN(reply, reader, int64(number)+2)
		}
	case '*':
		for ; number > 0 && err == nil; number-- {
			err = copyReply(reply, reader)
		}
	}
	return err
}

// readCommand reads an array of strings. There are no inline commands.
func readCommand(reader *bufio.Reader) ([]string, error) {
	line, length, err := readLine(reader)
	if err != nil {
		return nil, err
	}
	if line[0] != '*' || length < 1 {
		return nil, fmt.Errorf("unexpected command %q", line)
	}
	command := make([]string, length)
	for i := range command {
		_, length, err := readLine(reader)
		if err != nil {
			return nil, err
		}
		if command[i], err = readBulk(reader, length); err != nil {
			return nil, err
		}
	}
	return command, nil
}

func errorReply(message string) []byte {
	// An error is one line.
	message = strings.NewReplacer("\r", " ", "\n", " ").Replace(message)
	return []byte("-" + message + "\r\n")
}

func bulkReply(text string) []byte {
	return []byte(fmt.Sprintf("$%d\r\n%s\r\n", len(text), text))
}
