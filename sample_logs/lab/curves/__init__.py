"""Small trainings that are really executed, sound or with one silent fault, and printed as people print.

In: a task, a fault (or none) and a seed.
Out: the printed log and a label that says what is wrong and whether the printed log shows it.
Nothing here imports the program. `python sample_logs/lab/curves list` names tasks, faults and styles.
"""
