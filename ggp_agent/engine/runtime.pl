/*  The part of the Prolog engine that is the same for every game.

    The generated modules `rigid`, `state` and `moves` hold the rules (prolog_program.py says how), `now` holds the
    fluents that are true and the joint move. A fluent or move is a ground term; the parent knows it by the number that
    it got when it was first met. A state is a list of such numbers there, and here a list of terms in standard order.
*/
:- module(runtime, [answer/2]).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- set_prolog_flag(optimise, true).

:- dynamic number_term/2, role/2.       % number_term(Number, Term); role(Index, Symbol)

%   load(+Texts, +Roles): take the modules of a game, each as a pair Name-Text, and the symbols of its roles.
load(Texts, Roles) :-
    forall(member(Name-Text, Texts), load_module(Name, Text)),
    forall(nth0(Index, Roles, Symbol), assertz(role(Index, Symbol))),
    trie_new(Trie), nb_setval(numbers, Trie), nb_setval(count, 0), nb_setval(told, 0), nb_setval(current, []).

load_module(Name, Text) :-
    setup_call_cleanup(open_string(Text, Stream), load_files(Name, [stream(Stream), silent(true)]), close(Stream)).

%   answer(+Request, -Reply): Reply is the text of a list of integers and lists: [ok, ...] is 0, an error 1.
answer(Request, Reply) :-
    catch(( handle(Request, Result) -> Answer = [0, Result] ; Answer = [1, 0, 0, []] ), Error, failure(Error, Answer)),
    new_terms(New),
    format(string(Reply), "~w", [[New|Answer]]).

failure(Error, [1, Kind, Detail, State]) :-
    ( error_kind(Error, Kind, Detail) -> true ; print_message(error, Error), Kind = 0, Detail = 0 ),
    catch(( nb_getval(current, Terms), maplist(number_of, Terms, State) ), _, State = []),
    reset.

error_kind(ggp(no_move(Role)), 1, Role).
error_kind(ggp(goals(Role, Count)), 2, [Role, Count]).
error_kind(ggp(undefined), 3, 0).
error_kind(error(resource_error(_), _), 4, 0).

%   After an error nothing is known of the facts in `now`: forget them all.
reset :-
    abolish_all_tables,
    forall(( predicate_property(now:Head, dynamic) ), retractall(now:Head)),
    nb_setval(current, []).

handle(terms(Coded), []) :-
    maplist(decode, Coded, Terms),
    maplist(number_of, Terms, _).
handle(intern(Coded), Numbers) :-
    maplist(decode, Coded, Terms),
    maplist(number_of, Terms, Numbers).
handle(initial, Numbers) :-
    findall(Fluent, sure(state:k_init(Fluent)), Fluents),
    numbers(Fluents, Numbers).
handle(base, Numbers) :-
    findall(Fluent, sure(state:k_base(Fluent)), Fluents),
    numbers(Fluents, Numbers).
handle(look(State), [Terminal, Legal, Goals]) :-
    enter(State),
    ( sure(state:k_terminal) -> Terminal = 1 ; Terminal = 0 ),
    findall(Moves, ( role(_, Role), legal(Role, Terms), maplist(number_of, Terms, Moves) ), Legal),
    findall(Values, ( role(_, Role), goals(Role, Terms), maplist(code, Terms, Values) ), Goals).
handle(step(State, Joint), Numbers) :-
    enter(State),
    findall(does(Role, Move), ( nth0(Index, Joint, Number), role(Index, Role), number_term(Number, Move) ), Moves),
    next(Moves, Fluents),
    numbers(Fluents, Numbers).
handle(playout(State, Seed1, Seed2, MaxPlies), [Plies|Goals]) :-
    enter(State),
    nb_getval(current, Terms),
    findall(Role, role(_, Role), Roles),
    play(0, MaxPlies, Roles, Terms, Seed1, Seed2, Plies, Goals).

%   play(+Ply, +MaxPlies, +Roles, +Terms, +Seed1, +Seed2, -Plies, -Goals): play at random to the end.
play(Ply, MaxPlies, Roles, Terms, Seed1, Seed2, Plies, Goals) :-
    (   sure(state:k_terminal)
    ->  nb_setval(current, Terms), Plies = Ply, maplist(goal, Roles, Goals)
    ;   Ply >= MaxPlies
    ->  nb_setval(current, Terms), Plies = Ply, Goals = []
    ;   choose(Roles, Terms, Seed1, Seed2, Moves, NewSeed1, NewSeed2),
        next(Moves, NewTerms),
        change(Terms, NewTerms),
        forget(state),
        NewPly is Ply + 1,
        play(NewPly, MaxPlies, Roles, NewTerms, NewSeed1, NewSeed2, Plies, Goals)
    ).

goal(Role, Value) :-
    goals(Role, Values),
    (   Values = [Value] -> true
    ;   length(Values, Count), role(Index, Role), throw(ggp(goals(Index, Count)))
    ).

%   choose(...): one legal move for every role, each with the same chance. L'Ecuyer's combined generator (CACM 31, 1988).
choose([], _, Seed1, Seed2, [], Seed1, Seed2).
choose([Role|Roles], Terms, Seed1, Seed2, [does(Role, Move)|Moves], NewSeed1, NewSeed2) :-
    legal(Role, Legal),
    (   Legal = [Move]
    ->  Next1 = Seed1, Next2 = Seed2
    ;   Legal == []
    ->  nb_setval(current, Terms), role(Index, Role), throw(ggp(no_move(Index)))
    ;   Next1 is (Seed1 * 40014) mod 2147483563,
        Next2 is (Seed2 * 40692) mod 2147483399,
        compound_name_arguments(Choice, m, Legal),
        compound_name_arity(Choice, _, Count),
        Index is (Next1 - Next2) mod 2147483562 mod Count + 1,
        arg(Index, Choice, Move)
    ),
    choose(Roles, Terms, Next1, Next2, Moves, NewSeed1, NewSeed2).

legal(Role, Moves) :- findall(Move, sure(state:k_legal(Role, Move)), Found), sort(Found, Moves).
goals(Role, Values) :- findall(Value, sure(state:k_goal(Role, Value)), Found), sort(Found, Values).

next(Moves, Terms) :-
    forall(member(Move, Moves), assertz(now:Move)),
    forget(moves),
    findall(Fluent, sure(moves:k_next(Fluent)), Fluents),
    retractall(now:does(_, _)),
    sort(Fluents, Terms).

%   sure(:Goal): Goal, which must not be undefined under the well-founded semantics.
:- meta_predicate sure(0).
sure(Goal) :- now:careful, !, call_delays(Goal, Delays), ( Delays == true -> true ; throw(ggp(undefined)) ).
sure(Goal) :- call(Goal).

%   forget(+Module): the tables of a module are out of date.
forget(state) :- ( now:tables(state) -> abolish_module_tables(state) ; true ), forget(moves).
forget(moves) :- ( now:tables(moves) -> abolish_module_tables(moves) ; true ).

%   enter(+Numbers): make exactly these fluents true.
enter(Numbers) :-
    maplist([Number, Term]>>number_term(Number, Term), Numbers, Terms),
    sort(Terms, New),
    nb_getval(current, Old),
    (   Old == New -> true
    ;   change(Old, New),
        nb_setval(current, New),
        forget(state)
    ).

%   change(+Old, +New): both in standard order; only what differs is touched.
change([], New) :- !, add_all(New).
change(Old, []) :- !, drop_all(Old).
change([Old|Olds], [New|News]) :-
    compare(Order, Old, New),
    (   Order = (=) -> change(Olds, News)
    ;   Order = (<) -> drop(Old), change(Olds, [New|News])
    ;   add(New), change([Old|Olds], News)
    ).

add_all([]).
add_all([Term|Terms]) :- add(Term), add_all(Terms).
drop_all([]).
drop_all([Term|Terms]) :- drop(Term), drop_all(Terms).

add(Term) :- ( integer(Term) -> assertz(now:c(Term)) ; assertz(now:Term) ).
drop(Term) :- ( integer(Term) -> Fact = c(Term) ; Fact = Term ), ( retract(now:Fact) -> true ; true ).

%   Numbers of terms

numbers(Terms, Numbers) :- sort(Terms, Sorted), maplist(number_of, Sorted, Found), sort(Found, Numbers).

number_of(Term, Number) :-
    nb_getval(numbers, Trie),
    (   trie_lookup(Trie, Term, Number) -> true
    ;   nb_getval(count, Number), Next is Number + 1, nb_setval(count, Next),
        trie_insert(Trie, Term, Number), assertz(number_term(Number, Term))
    ).

%   new_terms(-New): the terms that the parent has not heard of yet, in the order of their numbers.
new_terms(New) :-
    nb_getval(told, Told), nb_getval(count, Count), nb_setval(told, Count),
    (   Told =:= Count -> New = []
    ;   Last is Count - 1,
        findall(Coded, ( between(Told, Last, Number), number_term(Number, Term), code(Term, Coded) ), New)
    ).

%   A term as the parent writes it: a symbol's number, or a list of the function's symbol and the arguments.
code(Term, Term) :- integer(Term), !.
code(Term, [Symbol|Coded]) :-
    compound_name_arguments(Term, Function, Args),
    now:symbol(Function, Symbol),
    maplist(code, Args, Coded).

decode(Number, Number) :- integer(Number), !.
decode([Symbol|Coded], Term) :-
    now:symbol(Function, Symbol),
    maplist(decode, Coded, Args),
    compound_name_arguments(Term, Function, Args).
