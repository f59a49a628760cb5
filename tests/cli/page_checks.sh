# shellcheck shell=bash
# What holds for every page: sourced behind lib.sh.

# policy_holds PAGE: each script and style that runs has its hash in the policy, and nothing else may.
policy_holds() {
    local page=$1 policy name
    policy=$(sed -nE 's/.*http-equiv="Content-Security-Policy" content="([^"]*)".*/\1/p' "$page")
    [[ $policy == "default-src 'none'; script-src 'sha256-"* ]] || say "$page: policy $policy"
    [[ $policy != *unsafe* && $policy != *http* && $policy != *\** ]] || say "$page: policy $policy"
    # what stands between the tags, byte for byte: each text begins and ends with a new line
    awk '/^<\/(script|style)>/ { inside = 0 }
         inside { print >part }
         /^(<script>|<style>)$/ { inside = 1; part = "part" ++n; print "" >part }' "$page"
    [ -e part1 ] || say "$page: no style in it"
    for name in part*; do
        local hash
        hash=$(sha256sum "$name" | cut -c1-64 | sed 's/../\\x&/g')
        # shellcheck disable=SC2059
        hash=$(printf "$hash" | base64)
        [[ $policy == *"'sha256-$hash'"* ]] || say "$page: $name is not in its policy"
    done
    rm -f part*
}
# nothing_else PAGE: no address, no handler, no style in an attribute, no element that loads.
nothing_else() {
    sed 's/<script type="application[^>]*>[^<]*<\/script>//; s/<link rel="icon" href="data:,">//' "$1" >plain
    if grep -noE 'https?:|//[a-z]+\.|<(link|iframe|object|embed|base|form)|<[a-z]+ ([^>]* )?on[a-z]+=|<[a-z]+ ([^>]* )?(style|srcset)=' plain; then
        say "$1 has what would load or run something"
    fi
    grep -oE ' src="[^"]{0,8}' plain | grep -vE '^ src="data:' && say "$1 loads a file"
    return 0
}
