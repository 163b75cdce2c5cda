package main

import (
	"bytes"
	"encoding/json"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// cjson returns the library of this name that Redis has, as far as scripts use it.
func cjson(state *lua.LState) *lua.LTable {
	library := state.NewTable()
	library.RawSetString("decode", state.NewFunction(func(state *lua.LState) int {
		var value interface{}
		if err := json.Unmarshal([]byte(state.CheckString(1)), &value); err != nil {
			state.RaiseError("%v", err)
		}
		state.Push(fromJSON(state, value))
		return 1
	}))
	library.RawSetString("encode", state.NewFunction(func(state *lua.LState) int {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(toJSON(state.Get(1))); err != nil {
			state.RaiseError("%v", err)
		}
		state.Push(lua.LString(strings.TrimSuffix(text.String(), "\n")))
		return 1
	}))
	return library
}

func fromJSON(state *lua.LState, value interface{}) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []interface{}:
		table := state.NewTable()
		for _, item := range value {
			table.Append(fromJSON(state, item))
		}
		return table
	case map[string]interface{}:
		table := state.NewTable()
		for name, item := range value {
			table.RawSetString(name, fromJSON(state, item))
		}
		return table
	default:
		// cjson has a value of its own for null, which is no nil.
		return &lua.LUserData{}
	}
}

func toJSON(value lua.LValue) interface{} {
	switch value := value.(type) {
	case lua.LBool:
		return bool(value)
	case lua.LNumber:
		return float64(value)
	case lua.LString:
		return string(value)
	case *lua.LTable:
		if value.Len() > 0 {
			items := []interface{}{}
			for i := 1; i <= value.Len(); i++ {
				items = append(items, toJSON(value.RawGetInt(i)))
			}
			return items
		}
		fields := map[string]interface{}{}
		value.ForEach(func(name, item lua.LValue) { fields[name.String()] = toJSON(item) })
		return fields
	default:
		return nil
	}
}
