package oneliner

import (
	"regexp"
	"strings"
)

var php = lexis{
	comments: []string{"//", "#"},
	marks:    strings.Fields("=== !== <=> **= ... ??= => -> == != <= >= && || ?? ++ -- += -= *= /= .= %= ** << >>"),
	singles:  "+-*/%=<>!&|^~?:;,.()[]{}@",
	special:  phpText,
}

var (
	variables = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*`)
	// phpFills is how PHP may fill in more than the value of a variable in a text.
	phpFills = regexp.MustCompile(`\{\$|\$\{|->`)
)

func phpText(s *scanner) bool {
	rest := s.code[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "<<<") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "?>"):
		s.failed = true
	case c == '\'':
		s.quoted(c, "")
	case c == '"':
		s.quoted(c, "")
		s.phpFills()
	case c == '$':
		name := variables.FindString(rest)
		s.failed = s.failed || name == ""
		s.take(variable, max(len(name), 1))
	default:
		return false
	}
	return true
}

// phpFills looks at what is filled in the last token: the values of variables alone.
func (s *scanner) phpFills() {
	if s.failed {
		return
	}
	last := &s.out[len(s.out)-1]
	s.failed = phpFills.MatchString(last.text)
	last.plain = last.plain && !strings.Contains(last.text, "$")
}

var (
	phpWords = set(`if else elseif while for foreach as do switch case default break continue return and or xor true
		false null TRUE FALSE NULL PHP_EOL PHP_VERSION PHP_OS PHP_OS_FAMILY PHP_INT_MAX PHP_INT_SIZE M_PI
		JSON_PRETTY_PRINT JSON_UNESCAPED_SLASHES JSON_UNESCAPED_UNICODE JSON_THROW_ON_ERROR STDIN STDOUT STDERR
		FILE_IGNORE_NEW_LINES FILE_SKIP_EMPTY_LINES FILE_APPEND STR_PAD_LEFT STR_PAD_RIGHT STR_PAD_BOTH echo print
		exit die isset empty unset list array int integer string float bool boolean`)
	phpFunctions = set(`printf sprintf vprintf vsprintf number_format print_r var_dump var_export json_encode
		json_decode json_last_error json_last_error_msg strlen strtolower strtoupper ucfirst ucwords trim ltrim rtrim
		chop explode implode join str_replace str_ireplace str_repeat str_pad str_split substr substr_count strpos
		stripos strrpos strstr strrev strcmp strtr wordwrap nl2br htmlspecialchars html_entity_decode addslashes
		stripslashes strip_tags sprintf md5 sha1 crc32 hash base64_encode base64_decode bin2hex hex2bin urlencode
		urldecode rawurlencode rawurldecode http_build_query parse_url str_contains str_starts_with str_ends_with
		mb_strlen mb_substr mb_strtoupper mb_strtolower count sizeof array_sum array_product array_keys array_values
		array_merge array_slice array_splice array_reverse array_unique array_column array_combine array_flip
		array_fill array_pad array_push array_pop array_shift array_unshift array_search array_key_exists
		array_key_first array_key_last array_rand array_chunk in_array range compact shuffle sort rsort asort arsort
		ksort krsort min max abs ceil floor round sqrt pow intdiv fmod pi exp log log10 sin cos tan rand mt_rand
		random_int random_bytes date gmdate time microtime mktime strtotime checkdate intval floatval strval boolval
		is_array is_string is_int is_numeric is_null is_bool gettype settype uniqid phpversion php_uname
		memory_get_usage memory_get_peak_usage fgets fgetcsv fread feof fclose fwrite fputs fputcsv
		stream_get_contents rewind version_compare extension_loaded get_loaded_extensions preg_match preg_match_all
		preg_split preg_quote usleep sleep chr ord dechex hexdec bindec decbin octdec decoct nl_langinfo similar_text
		levenshtein soundex metaphone`)
	phpFiles = map[string]effect{
		"file_get_contents": reads, "file": reads, "readfile": reads, "file_exists": reads, "is_file": reads, "is_dir": reads,
		"filesize": reads, "filemtime": reads, "scandir": reads, "md5_file": reads, "sha1_file": reads, "file_put_contents": writes,
		"fopen": opens,
	}
)

func readPHP(tokens []token) (Effects, bool) {
	var e Effects
	for i, t := range tokens {
		if !e.knowsPHP(tokens, i, t) {
			return Effects{}, false
		}
	}
	return e, true
}

// knowsPHP says that the list has a token as it is used. What holds the name of a function is never called.
func (e *Effects) knowsPHP(tokens []token, i int, t token) bool {
	next := at(tokens, i+1)
	called := next.is("(")
	switch {
	case t.kind == variable && (t.text == "$_ENV" || t.text == "$_SERVER" || t.text == "$GLOBALS"):
		return false
	case t.kind == variable || t.kind == text || t.is(")", "]", "}"):
		return !called || t.is("}")
	case t.is("->"):
		return next.kind == word && !at(tokens, i+2).is("(")
	case t.kind != word || at(tokens, i-1).is("->"):
		return true
	case phpFiles[t.text] != none:
		return called && e.filePHP(phpFiles[t.text], tokens, i+2)
	}
	return phpWords[t.text] || called && phpFunctions[t.text]
}

func (e *Effects) filePHP(does effect, tokens []token, i int) bool {
	file := at(tokens, i)
	if file.kind == variable {
		operand := file.text == "$argv" && at(tokens, i+1).is("[") && at(tokens, i+2).kind == number && at(tokens, i+4).is(",", ")")
		e.Operands = e.Operands || operand
		return operand && does == reads
	}
	if strings.Contains(file.text, ":") {
		standard := file.plain && (file.text == "php://stdin" || file.text == "php://stdout" || file.text == "php://stderr")
		return standard && file.kind == text && at(tokens, i+1).is(",", ")")
	}
	if does == opens {
		return e.opened(tokens, i)
	}
	return e.add(does, tokens, i)
}
