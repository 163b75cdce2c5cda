package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// scripts are the texts of the script cache by digest.
type scripts struct {
	sync.Mutex
	texts map[string]string
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *scripts) store(text string) string {
	s.Lock()
	defer s.Unlock()
	name := digest(text)
	s.texts[name] = text
	return name
}

func (s *scripts) find(name string) (string, bool) {
	s.Lock()
	defer s.Unlock()
	text, found := s.texts[strings.ToLower(name)]
	return text, found
}

func (s *session) script(command []string) ([]byte, error) {
	verb := ""
	if len(command) > 1 {
		verb = strings.ToUpper(command[1])
	}
	switch {
	case verb == "LOAD" && len(command) == 3:
		return bulkReply(s.scripts.store(command[2])), nil
	case verb == "EXISTS":
		reply := []byte(fmt.Sprintf("*%d\r\n", len(command)-2))
		for _, name := range command[2:] {
			known := 0
			if _, found := s.scripts.find(name); found {
				known = 1
			}
			reply = append(reply, fmt.Sprintf(":%d\r\n", known)...)
		}
		return reply, nil
	case verb == "FLUSH":
		s.scripts.Lock()
		defer s.scripts.Unlock()
		s.scripts.texts = map[string]string{}
		return []byte("+OK\r\n"), nil
	default:
		return s.server.forward(command)
	}
}

// eval runs EVAL, EVALSHA and their read-only forms.
func (s *session) eval(name string, command []string) []byte {
	if len(command) < 3 {
		return errorReply("ERR wrong number of arguments for '" + strings.ToLower(name) + "' command")
	}
	count, err := strconv.Atoi(command[2])
	if err != nil || count < 0 || count > len(command)-3 {
		return errorReply("ERR Number of keys can't be greater than number of args")
	}
	text := command[1]
	if strings.HasPrefix(name, "EVALSHA") {
		found := false
		if text, found = s.scripts.find(command[1]); !found {
			return errorReply("NOSCRIPT No matching script. Please use EVAL.")
		}
	} else {
		s.scripts.store(text)
	}
	exclusive.Lock()
	defer exclusive.Unlock()
	return s.server.run(text, command[3:3+count], command[3+count:])
}

var compiled sync.Map // by text

func compile(text string) (*lua.FunctionProto, error) {
	if proto, found := compiled.Load(text); found {
		return proto.(*lua.FunctionProto), nil
	}
	body := text
	if strings.HasPrefix(body, "#!") {
		// The line end stays, so that errors name the right line.
		body = body[strings.IndexByte(body, '\n'):]
	}
	chunk, err := parse.Parse(strings.NewReader(body), "@user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "@user_script")
	if err == nil {
		compiled.Store(text, proto)
	}
	return proto, err
}

// run runs a script and returns its reply as bytes.
func (c *redisConn) run(text string, keys, arguments []string) []byte {
	proto, err := compile(text)
	if err != nil {
		return errorReply("ERR Error compiling script: " + err.Error())
	}
	state := lua.NewState()
	defer state.Close()
	declared := map[string]bool{}
	for _, key := range keys {
		declared[key] = true
	}
	redis := state.NewTable()
	redis.RawSetString("call", state.NewFunction(func(state *lua.LState) int { return c.call(state, declared, false) }))
	redis.RawSetString("pcall", state.NewFunction(func(state *lua.LState) int { return c.call(state, declared, true) }))
	redis.RawSetString("sha1hex", state.NewFunction(func(state *lua.LState) int {
		state.Push(lua.LString(digest(state.CheckString(1))))
		return 1
	}))
	state.SetGlobal("redis", redis)
	limit(state)
	state.SetGlobal("cjson", cjson(state))
	state.SetGlobal("KEYS", stringTable(state, keys))
	state.SetGlobal("ARGV", stringTable(state, arguments))
	state.Push(&lua.LFunction{Env: state.Env, Proto: proto})
	if err := state.PCall(0, 1, nil); err != nil {
		return errorReply("ERR Error running script: " + err.Error())
	}
	var reply bytes.Buffer
	writeReply(&reply, state.Get(-1))
	return reply.Bytes()
}

// maxValues is the most values that a script may put on the stack at once.
const maxValues = 2000

var exponent = regexp.MustCompile(`^\s*[-+]?[0-9]+[eE]`)

// limit replaces functions by those that refuse what gopher-lua cannot do, or only just.
func limit(state *lua.LState) {
	replace := func(table *lua.LTable, name string, check func(*lua.LState)) {
		original := table.RawGetString(name)
		table.RawSetString(name, state.NewFunction(func(state *lua.LState) int {
			check(state)
			count := state.GetTop()
			state.Insert(original, 1)
			state.Call(count, lua.MultRet)
			return state.GetTop()
		}))
	}
	// The values are those from one index of a table to another.
	checkCount := func(from, to int) func(*lua.LState) {
		return func(state *lua.LState) {
			first, last := state.OptInt(from, 1), state.OptInt(to, state.CheckTable(1).Len())
			if last-first >= maxValues {
				state.RaiseError("ERR %d values, the most are %d", last-first+1, maxValues)
			}
		}
	}
	globals := state.Get(lua.GlobalsIndex).(*lua.LTable)
	replace(globals, "unpack", checkCount(2, 3))
	replace(globals.RawGetString("table").(*lua.LTable), "concat", checkCount(3, 4))
	replace(globals, "tonumber", func(state *lua.LState) {
		if text, isText := state.Get(1).(lua.LString); isText && exponent.MatchString(string(text)) {
			state.RaiseError("ERR a number with an exponent: %s", text)
		}
	})
}

func stringTable(state *lua.LState, texts []string) *lua.LTable {
	table := state.NewTable()
	for _, text := range texts {
		table.Append(lua.LString(text))
	}
	return table
}

// The commands that take more than one key.
var manyKeys = map[string]bool{"DEL": true, "EXISTS": true, "RENAME": true, "TOUCH": true, "UNLINK": true}

// call is redis.call, which raises the errors of Redis, or redis.pcall, which returns them.
func (c *redisConn) call(state *lua.LState, declared map[string]bool, isProtected bool) int {
	var command []string
	for i := 1; i <= state.GetTop(); i++ {
		switch value := state.Get(i).(type) {
		case lua.LString:
			command = append(command, string(value))
		case lua.LNumber:
			command = append(command, strconv.FormatFloat(float64(value), 'g', 17, 64))
		default:
			state.RaiseError("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	name, first := strings.ToUpper(command[0]), 1
	if name == "XINFO" {
		// Its subcommand precedes the key.
		first = 2
	}
	for i := first; i < len(command) && (i == first || manyKeys[name]); i++ {
		if !declared[command[i]] {
			state.RaiseError("ERR undeclared key %s of %s", command[i], command[0])
		}
	}
	if err := c.send(command); err != nil {
		state.RaiseError("ERR %v", err)
	}
	value, message, err := c.readValue(state)
	if err != nil {
		state.RaiseError("ERR %v", err)
	} else if message != "" && isProtected {
		failure := state.NewTable()
		failure.RawSetString("err", lua.LString(message))
		value = failure
	} else if message != "" {
		state.Error(lua.LString(message), 1)
	}
	state.Push(value)
	return 1
}

// readValue reads a reply as a value of Lua, or the message of an error reply.
func (c *redisConn) readValue(state *lua.LState) (lua.LValue, string, error) {
	reader := c.stream.Reader
	line, number, err := readLine(reader)
	if err != nil {
		return nil, "", err
	}
	text := strings.TrimRight(string(line[1:]), "\r\n")
	switch line[0] {
	case '+':
		status := state.NewTable()
		status.RawSetString("ok", lua.LString(text))
		return status, "", nil
	case '-':
		return nil, text, nil
	case ':':
		return lua.LNumber(number), "", nil
	case '$':
		if number < 0 {
			return lua.LFalse, "", nil
		}
		text, err := readBulk(reader, number)
		return lua.LString(text), "", err
	case '*':
		if number < 0 {
			return lua.LFalse, "", nil
		}
		items := state.NewTable()
		for ; number > 0; number-- {
			item, message, err := c.readValue(state)
			if err != nil {
				return nil, "", err
			} else if message != "" {
				table := state.NewTable()
				table.RawSetString("err", lua.LString(message))
				item = table
			}
			items.Append(item)
		}
		return items, "", nil
	default:
		return nil, "", fmt.Errorf("unexpected reply %q", line)
	}
}

// writeReply writes a value of Lua as the reply of a script.
func writeReply(reply *bytes.Buffer, value lua.LValue) {
	switch value := value.(type) {
	case lua.LNumber:
		fmt.Fprintf(reply, ":%d\r\n", int64(math.Trunc(float64(value))))
	case lua.LString:
		reply.Write(bulkReply(string(value)))
	case *lua.LTable:
		if message, isError := value.RawGetString("err").(lua.LString); isError {
			reply.Write(errorReply(string(message)))
			return
		} else if status, isStatus := value.RawGetString("ok").(lua.LString); isStatus {
			fmt.Fprintf(reply, "+%s\r\n", status)
			return
		}
		// A nil ends an array.
		length := 0
		for value.RawGetInt(length+1) != lua.LNil {
			length++
		}
		fmt.Fprintf(reply, "*%d\r\n", length)
		for i := 1; i <= length; i++ {
			writeReply(reply, value.RawGetInt(i))
		}
	default:
		if value == lua.LTrue {
			reply.WriteString(":1\r\n")
		} else {
			reply.WriteString("$-1\r\n")
		}
	}
}
