package oneliner

import "strings"

var r = lexis{
	comments: []string{"#"},
	marks:    strings.Fields("<<- %in% %/% %*% <- -> == != <= >= && || %%"),
	singles:  "+-*/^<>=!&|:;,()[]{}$",
	special:  rText,
}

// rText reads quoted texts, names with dots in them, and whole numbers. What stands right behind a name is no text for certain.
func rText(s *scanner) bool {
	c, last := s.code[s.at], s.last()
	switch {
	case c == '"' || c == '\'':
		s.failed = last.kind == word && len(s.out) > 0 && !s.spaced && !s.line
		s.quoted(c, "")
	case isLetter(c):
		end := s.at
		for end < len(s.code) && (isLetter(s.code[end]) || isDigit(s.code[end]) || s.code[end] == '.') {
			end++
		}
		s.take(word, end-s.at)
	case isDigit(c):
		length := len(numbers.FindString(s.code[s.at:]))
		if strings.HasPrefix(s.code[s.at+length:], "L") {
			length++
		}
		if next := s.at + length; next < len(s.code) && (isLetter(s.code[next]) || s.code[next] == '.') {
			s.failed = true
		}
		s.take(number, length)
	default:
		return false
	}
	return true
}

var (
	rWords = set(`if else for while repeat function next break in TRUE FALSE NULL NA Inf NaN T F pi letters LETTERS
		month.name month.abb R.version.string`)
	// rOpening are those of them before a bracket that is no call.
	rOpening   = set("if for while function in else repeat")
	rFunctions = set(`c mean median sd var sum prod min max range length nchar paste paste0 print cat format formatC round signif
		floor ceiling trunc sqrt exp log log2 log10 log1p abs sin cos tan asin acos atan seq seq_len seq_along rep rev sort order
		unique duplicated table summary head tail nrow ncol dim names colnames rownames data.frame matrix list vector numeric character
		logical integer as.numeric as.integer as.character as.logical as.factor as.vector factor levels is.na is.null is.numeric which
		which.max which.min any all ifelse strsplit gsub sub grepl grep sprintf toupper tolower substr substring trimws startsWith
		endsWith set.seed rnorm runif rbinom sample quantile cor cumsum cumprod diff t diag det solve crossprod rowSums colSums
		rowMeans colMeans stop warning message invisible identical stopifnot factorial choose gamma beta rbind cbind merge cut unlist
		nlevels tabulate rank scale str Sys.time Sys.Date is.character max.col bitwAnd bitwOr strtoi rev rawToBits utf8ToInt intToUtf8
		read.csv read.csv2 read.table read.delim readLines`)
	rReaders = set("read.csv read.csv2 read.table read.delim readLines")
	// rNamed are the names of arguments that change how something is counted and printed; rFree take any.
	rNamed = set(`na.rm sep digits collapse by length.out times each header stringsAsFactors decreasing nrow ncol byrow n probs from to
		width nsmall big.mark scientific levels labels ignore.case perl fixed value base mean sd min max size prob replace breaks right
		row.names col.names check.names quote skip nrows dec`)
	rFree = set("c list data.frame cbind rbind")
)

// readR lets a program call what is listed and what it has defined as a function. No function takes another one.
func readR(tokens []token) (Effects, bool) {
	var e Effects
	own, defined, ok := bindR(tokens)
	if !ok {
		return Effects{}, false
	}
	var around []string
	for i, t := range tokens {
		before, next := at(tokens, i-1), at(tokens, i+1)
		switch {
		case t.is("("):
			if before.kind != word && before.kind != mark || before.is(")", "]", "}") {
				return Effects{}, false
			}
			around = append(around, before.text)
		case t.is(")") && len(around) > 0:
			around = around[:len(around)-1]
		case t.kind == text && (next.is("<-", "<<-", "=") || before.is("->", "$")):
			return Effects{}, false
		case t.kind != word:
		case next.is("("):
			if !rOpening[t.text] && !defined[t.text] && !e.rCall(t, before, tokens, i+2) {
				return Effects{}, false
			}
		case rWords[t.text] || own[t.text] || before.is("$"):
		case next.is("=") && len(around) > 0 && (rNamed[t.text] || rFree[around[len(around)-1]]):
		default:
			return Effects{}, false
		}
	}
	return e, true
}

// rCall says that a function is listed, and notes the file that it reads.
func (e *Effects) rCall(name, before token, tokens []token, first int) bool {
	if !rFunctions[name.text] || before.is("$") {
		return false
	}
	return !rReaders[name.text] || !strings.Contains(at(tokens, first).text, ":") && e.add(reads, tokens, first)
}

// bindR finds the names that a program has for itself, and which of them are functions; ok is false if one is bound in two
// ways, or has the name of something that is there without it.
func bindR(tokens []token) (own, defined map[string]bool, ok bool) {
	own, defined = map[string]bool{}, map[string]bool{}
	functions := map[string]int{}
	depth, parameters := 0, 0
	for i, t := range tokens {
		before, next := at(tokens, i-1), at(tokens, i+1)
		switch {
		case t.is("("):
			depth++
			if before.named("function") {
				parameters = depth
			}
		case t.is(")"):
			if depth == parameters {
				parameters = 0
			}
			depth--
		case t.kind != word || before.is("$") || rWords[t.text]:
		case next.is("<-", "<<-") || next.is("=") && depth == 0 || before.is("->") || next.named("in") ||
			parameters > 0 && depth == parameters && (before.is("(", ",")):
			if rFunctions[t.text] || rHeld[t.text] {
				return nil, nil, false
			}
			own[t.text] = true
			functions[t.text]++
			defined[t.text] = next.kind == mark && at(tokens, i+2).named("function")
		}
	}
	for name, times := range functions {
		if defined[name] && times > 1 {
			return nil, nil, false
		}
	}
	return own, defined, true
}

// rHeld are functions that start programs, run texts and give others out.
var rHeld = set(`system system2 shell eval evalq parse source sys.source pipe file unlink get mget match.fun do.call Recall assign
	environment library require loadNamespace`)
