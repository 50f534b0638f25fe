package oneliner

import (
	"regexp"
	"strings"
)

var ruby = lexis{
	comments: []string{"#"},
	marks:    strings.Fields("<=> === **= ||= &&= ... -> => =~ !~ == != <= >= && || &. .. :: += -= *= /= %= ** << >>"),
	singles:  "+-*/%=<>!&|^~?:;,.()[]{}",
	tail:     "?!",
	special:  rubyText,
}

var (
	rubyVariables = regexp.MustCompile(`^(?:@{1,2}[A-Za-z_][A-Za-z0-9_]*|\$(?:stdin|stdout|stderr|[_.,/~&;]|[0-9]+))`)
	rubySymbols   = regexp.MustCompile(`^:(?:[A-Za-z_][A-Za-z0-9_]*[?!]?|[+*/-]|<=>|==|<<)`)
	rubyWordsIn   = regexp.MustCompile(`^%w(?:\[[^\]\\\[]*\]|\([^)\\(]*\)|\{[^}\\{]*\})`)
)

func rubyText(s *scanner) bool {
	rest := s.code[s.at:]
	c := rest[0]
	next := byte(' ')
	if len(rest) > 1 {
		next = rest[1]
	}
	value := s.endsValue()
	switch {
	case c == '`' || s.line && c == '=' || strings.HasPrefix(rest, "__END__") && s.line:
		s.failed = true
	case c == '"':
		s.quoted(c, "#{")
	case c == '\'':
		s.quoted(c, "")
	case c == ':' && next != ':' && rubySymbols.MatchString(rest) && !(value && !s.spaced):
		s.take(pattern, len(rubySymbols.FindString(rest)))
	case c == ':' && (next == '"' || next == '\''), c == '?' && next != ' ' || c == '<' && next == '<' && (len(rest) < 3 || rest[2] != ' '):
		s.failed = true
	case c == '$' || c == '@':
		name := rubyVariables.FindString(rest)
		s.failed = s.failed || name == ""
		s.take(variable, max(len(name), 1))
	case c == '%' && rubyWordsIn.MatchString(rest) && !value:
		s.take(text, len(rubyWordsIn.FindString(rest)))
	case c == '%' && !(next == ' ' && s.spaced && (value || s.last().kind == word && !rubyWords[s.last().text])):
		s.failed = true
	case c == '/':
		return s.rubySlash(value)
	default:
		return false
	}
	return true
}

// endsValue says that the token before this place ends a value for certain.
func (s *scanner) endsValue() bool {
	last := s.last()
	return last.kind == variable || last.kind == number || last.kind == text || last.is(")", "]", "}")
}

func (s *scanner) rubySlash(value bool) bool {
	last := s.last()
	begins := len(s.out) == 0 || last.is("(", ",", "=", "=~", "!~", "&&", "||", "!", "[", ";", "=>", "{", "|") ||
		last.named("if", "unless", "and", "or", "not", "when", "while", "until") && !at(s.out, len(s.out)-2).is(".", "&.")
	if !begins {
		s.failed = s.failed || s.slashAgain() && !(value && last.kind != text && !last.is("}"))
		return s.failed
	}
	s.slashes()
	if !s.failed {
		s.failed = strings.Contains(s.last().text, "#{")
	}
	return true
}

var (
	rubyWords = set(`if elsif else unless while until for in do end then case when begin rescue ensure and or not nil
		true false next break redo return BEGIN END puts print p pp printf format sprintf gets loop rand srand sleep
		Integer Float String Array Hash exit raise self block_given? defined?`)
	rubyMethods = set(`to_s to_i to_f to_a to_h to_r to_c to_json inspect length size count first last min max sum
		minmax min_by max_by sort sort_by reverse uniq flatten compact map flat_map collect each each_with_index
		each_with_object each_slice each_cons each_line each_char each_byte each_key each_value each_pair select
		filter filter_map reject find detect find_all find_index any? all? none? one? include? empty? nil? zero?
		positive? negative? even? odd? key? has_key? value? member? start_with? end_with? match match? is_a? keys
		values fetch dig store merge merge! update delete delete_if key invert group_by partition chunk_while
		slice_when zip product combination permutation transpose rotate take drop take_while drop_while push pop shift
		unshift append prepend insert concat join split lines chars bytes chomp chop chomp! strip lstrip rstrip strip!
		upcase downcase capitalize swapcase upcase! downcase! tr tr_s squeeze sub gsub sub! gsub! scan index rindex
		slice slice! center ljust rjust succ ord chr hex oct unpack unpack1 pack encode force_encoding valid_encoding?
		unicode_normalize round floor ceil abs divmod modulo pow gcd lcm digits bit_length times upto downto step
		tally cycle lazy force sample shuffle values_at slice compact! sort! map! reverse! uniq! flatten! freeze dup
		clone tap then strftime year month day hour minute second wday yday utc iso8601 rfc2822 puts print write read
		readlines gets readline each_entry eof? rewind close to_set add add? subset? superset? union intersection
		difference disjoint? transform_values transform_keys sum reduce inject entries default default=
		compare_by_identity new now today parse generate pretty_generate bsearch assoc flush sync sync= binmode getc
		nonzero? clamp begin end exclude_end? cover? positive? lstrip! rstrip! casecmp casecmp? delete_prefix
		delete_suffix partition rpartition each_grapheme_cluster ascii_only? codepoints hash eql? equal? itself empty
		none`)
	rubyConstants = map[string]map[string]effect{
		"File": {"read": reads, "readlines": reads, "foreach": reads, "exist?": reads, "file?": reads, "directory?": reads, "size": reads,
			"write": writes, "open": opens, "basename": none, "extname": none, "dirname": none, "join": none, "expand_path": none},
		"Dir":  {"pwd": none, "glob": none, "children": reads, "entries": reads, "exist?": reads},
		"JSON": {"parse": none, "generate": none, "pretty_generate": none, "dump": none},
		"Math": {"sqrt": none, "sin": none, "cos": none, "tan": none, "log": none, "log2": none, "log10": none, "exp": none,
			"hypot": none, "cbrt": none,
			"atan": none, "atan2": none},
		"Time":     {"now": none, "at": none, "parse": none, "iso8601": none},
		"Date":     {"today": none, "parse": none, "new": none, "valid_date?": none},
		"DateTime": {"now": none, "parse": none}, "Set": {"new": none}, "Random": {"rand": none},
		"SecureRandom": {"hex": none, "uuid": none,
			"alphanumeric": none, "base64": none},
		"Base64": {"encode64": none, "decode64": none, "strict_encode64": none, "strict_decode64": none,
			"urlsafe_encode64": none},
		"CSV": {"parse": none, "read": reads, "foreach": reads}, "YAML": {"safe_load": none}, "Hash": {"new": none}, "Array": {"new": none},
		"STDIN":  {"read": none, "gets": none, "each_line": none, "readlines": none, "readline": none},
		"STDOUT": {"puts": none, "print": none, "write": none, "flush": none, "sync": none},
		"STDERR": {"puts": none, "print": none, "write": none},
		"ARGF":   {"read": reads, "each_line": reads, "readlines": reads, "lines": reads},
	}
	rubyLibraries = set("json date time set csv pp securerandom base64 digest yaml bigdecimal prime")
	rubyPlain     = set("RUBY_VERSION RUBY_PLATFORM RUBY_ENGINE RUBY_PATCHLEVEL ARGV Float Integer String Symbol NilClass TrueClass")
	// rubyHeld are methods of every object that start a program or run a text; a variable of such a name does not hide them.
	rubyHeld = set(`system exec eval fork spawn open load require require_relative send public_send __send__ method
		instance_eval instance_exec class_eval module_eval binding syscall test trap autoload at_exit define_method
		callcc select abort exit! putc gets readlines readline proc lambda instance_variable_get instance_variable_set
		const_get class Kernel trace_var set_trace_func define_singleton_method gem irb singleton_method`)
)

// RubyLibrary says that a library gives a program nothing but what the list knows.
func RubyLibrary(name string) bool { return rubyLibraries[name] }

// readRuby knows the methods that a program calls by their names alone: the listed ones are harmless for every value that the
// program can get at.
func readRuby(tokens []token) (Effects, bool) {
	var e Effects
	own, ok := ownRuby(tokens)
	arguments := false
	for i, t := range tokens {
		if !ok || !e.knowsRuby(tokens, i, own) {
			return Effects{}, false
		}
		arguments = arguments || t.named("ARGV") && !at(tokens, i+1).is("[")
	}
	return e, !arguments || !e.Operands
}

// ownRuby are a program's variables and the arguments of its blocks.
func ownRuby(tokens []token) (map[string]bool, bool) {
	own := map[string]bool{}
	for i, t := range tokens {
		before, next := at(tokens, i-1), at(tokens, i+1)
		switch {
		case t.is("|") && (before.is("{") || before.named("do")):
			for j := i + 1; j < len(tokens) && !tokens[j].is("|"); j++ {
				if tokens[j].kind == word {
					own[tokens[j].text] = true
				}
			}
		case t.kind == word && next.is("=", "+=", "-=", "*=", "/=", "||=", "&&=") && !before.is(".", "&."):
			own[t.text] = true
		case t.kind == word && before.named("for"), t.kind == word && before.is(",") && next.named("in"):
			own[t.text] = true
		}
	}
	for name := range own {
		if rubyHeld[name] || !isIdent(name) || name[0] <= 'Z' {
			return nil, false
		}
	}
	return own, true
}

func (e *Effects) knowsRuby(tokens []token, i int, own map[string]bool) bool {
	t, before, next := tokens[i], at(tokens, i-1), at(tokens, i+1)
	switch {
	case t.kind == pattern && strings.HasPrefix(t.text, ":"):
		name := t.text[1:]
		return !isIdent(strings.TrimRight(name, "?!")) || rubyMethods[name] || next.is("=>", "]", ")", ",") && !before.is("&", "(", ",")
	case t.is("&"):
		return next.kind == pattern || next.kind == number || next.kind == word && t.spaced && next.spaced && !before.is("(", ",")
	case t.is("::"):
		return false
	case t.kind != word:
		return true
	case next.is(":") && !next.spaced && !t.named("puts", "print", "p"): // a name for a value
		return true
	case before.is(".",
		"&.") && at(tokens, i-2).kind == word && rubyConstants[at(tokens, i-2).text] != nil && !at(tokens, i-3).is(".", "&."):
		return true // it was looked at with what it is a method of
	case before.is(".", "&."):
		return rubyMethods[t.text] && (!t.named("reduce", "inject") || e.folds(tokens, i+1))
	case t.named("require"):
		if next.is("(") {
			next = at(tokens, i+2)
		}
		return next.kind == text && rubyLibraries[next.text]
	case rubyConstants[t.text] != nil:
		return e.constant(tokens, i)
	case own[t.text]:
		return !next.is("(", "{") && next.kind != text && next.kind != number && next.kind != pattern && next.kind != variable
	}
	if t.named("gets") {
		e.Operands = true
	}
	return rubyWords[t.text] || rubyPlain[t.text]
}

// folds says that reduce is given a block, or a listed method's symbol: a text would name any method.
func (e *Effects) folds(tokens []token, i int) bool {
	if !at(tokens, i).is("(") {
		return at(tokens, i).is("{") || at(tokens, i).named("do")
	}
	for j := i + 1; j < closes(tokens, i); j++ {
		if t := tokens[j]; t.kind != number && t.kind != pattern && !t.is(",", "&", "[", "]", "{", "}") {
			return false
		}
	}
	return true
}

// constant reads what is called of a class or a module, and the file that it names.
func (e *Effects) constant(tokens []token, i int) bool {
	name := tokens[i].text
	if rubyWords[name] && !at(tokens, i+1).is(".") {
		return true
	}
	if !at(tokens, i+1).is(".") {
		return name == "Dir" && at(tokens, i+1).is("[") && at(tokens, i+2).kind == text && at(tokens, i+3).is("]")
	}
	does, listed := rubyConstants[name][at(tokens, i+2).text]
	if name == "ARGF" {
		e.Operands = e.Operands || listed
		return listed
	}
	first := i + 3
	if at(tokens, first).is("(") {
		first++
	}
	switch {
	case !listed || does == none:
		return listed
	case does == opens:
		return e.opened(tokens, first)
	case at(tokens, first).named("ARGV") && at(tokens, first+1).is("[") && at(tokens, first+2).kind == number &&
		at(tokens, first+3).is("]") && at(tokens, first+4).is(",", ")"):
		e.Operands = true
		return does == reads
	}
	return e.add(does, tokens, first)
}
