# Prints what zsh offers for a line, a candidate on each:
#   zsh -f complete.zsh FUNCTIONS LINE
# FUNCTIONS is the folder of completion functions. It types LINE and a tab into
# an interactive zsh in which compadd prints what it is given.
if [[ $1 == --inside ]]; then
  PROMPT=
  fpath=($2 $fpath)
  autoload -Uz compinit
  compinit -u -D
  compadd() {
    local -a offered
    # Calls with -O, -A or -D add nothing themselves.
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
      builtin compadd -O offered "$@"
      (($#offered)) && print -rl -- "<offer>"${^offered}
    fi
    builtin compadd "$@"
  }
  _offer() {
    _main_complete
    compstate[insert]=
    compstate[list]=
    print '<done>'
  }
  zle -C offer complete-word _offer
  bindkey '^I' offer
  print '<ready>'
  return
fi
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell "source ${(q)0:A} --inside ${(q)1}"
zpty -r shell text '*<ready>*' || exit 1
zpty -n -w shell "$2"$'\t'
zpty -r shell text '*<done>*' || exit 1
print -r -- "$text" | tr -d '\r' | sed -n 's/.*<offer>//p' | sort -u
zpty -d shell
