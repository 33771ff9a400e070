# fish completion for wheelsmith: the program itself says what may stand at the cursor.

function __wheelsmith
    set -l typed (commandline -opc)
    set -l word (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $word)
    set -l rest (string replace -r -- '^--[^=]*=' '' $word)
    for answer in ($typed[1] internal complete -- $typed[2..-1] "$word" 2>/dev/null)
        switch $answer
            case :files
                printf "$before%s\n" (__fish_complete_path $rest)
            case :folders
                printf "$before%s\n" (__fish_complete_directories $rest)
            case '*'
                echo $answer
        end
    end
end

complete -c wheelsmith -f -a '(__wheelsmith)'
